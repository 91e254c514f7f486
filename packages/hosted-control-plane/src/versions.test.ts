/** Which versions and replicas the API server accepts for a hosted control plane, before any controller sees them. */
import { HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let server: ApiServer;
let client: KubernetesClient;

beforeAll(async () => {
  server = await startApiServer({ crds: [toCustomResourceDefinition(HostedControlPlane)] });
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
});
afterAll(async () => {
  await client.close();
  await server.close();
});

const path = "/apis/controlplane.cluster.x-k8s.io/v1alpha1/namespaces/default/hostedcontrolplanes";

function create(name: string, spec: object): Promise<unknown> {
  const { group, version, kind } = {
    group: "controlplane.cluster.x-k8s.io",
    version: "v1alpha1",
    kind: "HostedControlPlane",
  };
  return client.request("POST", path, { body: { apiVersion: `${group}/${version}`, kind, metadata: { name }, spec } });
}

function patch(name: string, spec: object): Promise<unknown> {
  return client.request("PATCH", `${path}/${name}`, {
    body: { spec },
    contentType: "application/merge-patch+json",
  });
}

function issuers(...given: { url?: string; audiences?: string[]; prefix?: string | undefined }[]): object {
  const jwt = given.map(({ url = "https://one.test", audiences = ["web"], ...rest }) => ({
    issuer: { url, audiences },
    claimMappings: { username: { claim: "sub", prefix: "oidc:", ...rest } },
  }));
  return { authentication: { jwt } };
}

const sink = (url: string): object => ({ audit: { webhook: { url } } });

describe("a hosted control plane", () => {
  test.each([
    ["a version without its v", { version: "1.34.1" }, /should match/],
    ["a version that is none", { version: "foo" }, /should match/],
    ["a minor version that is not served", { version: "v9.9.9" }, /not served; served: v1\.34\.x/],
    ["an old minor version", { version: "v1.20.0" }, /not served/],
    ["the minor before, embedded", { version: "v1.33.13", runtime: "Embedded" }, /not served/],
    ["an old minor version of programs", { version: "v1.32.9", runtime: "Process" }, /runtime Process: v1\.33\.x, v1/],
    [
      "settings of runtime Pods and another runtime",
      { version: "v1.34.0", pods: { size: "Small" } },
      /needs runtime Pods/,
    ],
    ["two members of etcd", { version: "v1.34.0", runtime: "Pods", pods: { datastore: { members: 2 } } }, /set 1 or 3/],
    [
      "a retirement without a rotation",
      { version: "v1.34.0", authorities: { retireOldAfter: "2026-03-01T00:00:00Z" } },
      /needs rotateAfter and cannot be before it/,
    ],
    [
      "a retirement before its rotation",
      {
        version: "v1.34.0",
        authorities: { rotateAfter: "2026-03-01T00:00:00Z", retireOldAfter: "2026-03-01T00:30:00+01:00" },
      },
      /needs rotateAfter and cannot be before it/,
    ],
    [
      "an access list and another runtime than Pods",
      { version: "v1.34.0", endpoint: { allowedCIDRs: ["192.0.2.0/24"] } },
      /only its load balancers have access lists/,
    ],
    ["an issuer over plain HTTP", { version: "v1.34.0", ...issuers({ url: "http://one.test" }) }, /begins with https/],
    ["an issuer's URL with a user", { version: "v1.34.0", ...issuers({ url: "https://a@one.test" }) }, /has no user/],
    ["an issuer's URL with a query", { version: "v1.34.0", ...issuers({ url: "https://one.test/?a" }) }, /query/],
    ["an issuer's URL with a wrong escape", { version: "v1.34.0", ...issuers({ url: "https://one.test/%zz" }) }, /%20/],
    ["an issuer's URL with a tab", { version: "v1.34.0", ...issuers({ url: "https://one.te\tst" }) }, /%20/],
    ["an issuer's URL with a line break", { version: "v1.34.0", ...issuers({ url: "https://one.test/\n" }) }, /%20/],
    ["an escape in an issuer's host", { version: "v1.34.0", ...issuers({ url: "https://one%41.test" }) }, /%20/],
    ["a backslash in an issuer's host", { version: "v1.34.0", ...issuers({ url: "https://192.0.2.9\\.test" }) }, /%20/],
    [
      "its own issuer",
      { version: "v1.34.0", ...issuers({ url: "https://kubernetes.default.svc.cluster.local" }) },
      /own service accounts/,
    ],
    ["an issuer without an audience", { version: "v1.34.0", ...issuers({ audiences: [] }) }, /audiences/],
    ["an issuer twice", { version: "v1.34.0", ...issuers({}, {}) }, /same issuer.url/],
    [
      "five issuers",
      { version: "v1.34.0", ...issuers(...[1, 2, 3, 4, 5].map((each) => ({ url: `https://${each}.test` }))) },
      /at most 4/,
    ],
    [
      "an issuer of names that are Kubernetes' own",
      { version: "v1.34.0", ...issuers({ prefix: "system:node:" }) },
      /Kubernetes' own/,
    ],
    ["an issuer without a prefix for names", { version: "v1.34.0", ...issuers({ prefix: undefined }) }, /prefix/],
    [
      "an access list with what is not a network",
      { version: "v1.34.0", runtime: "Pods", endpoint: { allowedCIDRs: ["192.0.2.0/24", "me"] } },
      /is a network such as/,
    ],
    [
      "an access list and a node port",
      {
        version: "v1.34.0",
        runtime: "Pods",
        pods: { exposure: "NodePort" },
        endpoint: { host: "192.0.2.1", allowedCIDRs: ["192.0.2.0/24"] },
      },
      /needs spec.pods.exposure LoadBalancer/,
    ],
    [
      "an access list and the shared gateway",
      {
        version: "v1.34.0",
        runtime: "Pods",
        pods: { exposure: "Gateway" },
        endpoint: { allowedCIDRs: ["192.0.2.0/24"] },
      },
      /needs spec.pods.exposure LoadBalancer/,
    ],
    [
      "flags and the embedded runtime",
      { version: "v1.34.0", runtime: "Embedded", flags: { apiServer: { eventTTLSeconds: 600 } } },
      /spec.flags needs runtime Process or Pods/,
    ],
    ["an audit sink over plain HTTP", { version: "v1.34.0", ...sink("http://sink.test") }, /begins with https/],
    ["an audit sink's URL with a user", { version: "v1.34.0", ...sink("https://a@sink.test") }, /has no user/],
    ["an audit sink's URL with a query", { version: "v1.34.0", ...sink("https://sink.test/?a") }, /no user, query/],
    [
      "an audit sink and the embedded runtime",
      { version: "v1.34.0", runtime: "Embedded", ...sink("https://sink.test") },
      /spec.audit needs runtime Process or Pods/,
    ],
    ["a flag's value beyond its bounds", { version: "v1.34.0", flags: { apiServer: { eventTTLSeconds: 1 } } }, /60/],
    [
      "an admission plugin that reads a file",
      { version: "v1.34.0", flags: { apiServer: { enableAdmissionPlugins: ["EventRateLimit"] } } },
      /EventRateLimit/,
    ],
    [
      "a range of ports that ends before it begins",
      { version: "v1.34.0", flags: { apiServer: { serviceNodePortRange: "3000-2000" } } },
      /1024 <= FIRST <= LAST/,
    ],
    [
      "ports that only root may open",
      { version: "v1.34.0", flags: { apiServer: { serviceNodePortRange: "0022-2000" } } },
      /1024 <= FIRST <= LAST/,
    ],
    ["no replicas, to hibernate", { version: "v1.34.0", replicas: 0 }, /or none to hibernate: set runtime to Pods/],
    [
      "no replicas and runtime Process",
      { version: "v1.34.0", runtime: "Process", replicas: 0 },
      /or none to hibernate/,
    ],
    ["three replicas", { version: "v1.34.0", replicas: 3 }, /only runtime Pods runs more than one API server/],
  ])("is refused with %s", async (_, spec, message) => {
    await expect(create("refused", spec)).rejects.toThrow(message);
  });

  test("of runtime Pods is accepted with three replicas or none and an older minor version, and with one or three members", async () => {
    const pods = { datastore: { members: 3 } };
    await create("pods", { version: "v1.33.1", runtime: "Pods", replicas: 3, pods });
    await patch("pods", { replicas: 0 });
    await patch("pods", { pods: { datastore: { members: 1 } } });
    await expect(patch("pods", { pods: { datastore: { members: 2 } } })).rejects.toThrow(/two members cannot lose any/);
    await expect(patch("pods", { version: "v1.35.0" })).rejects.toThrow(/one minor version at a time/);
  });

  test("has issuers of tokens, which change", async () => {
    await create("issuers", {
      version: "v1.34.0",
      ...issuers({}, { url: "https://two.test:8443/realms/web", prefix: "" }),
    });
    await patch("issuers", issuers({ url: "https://three.test" }));
    await patch("issuers", issuers({ url: "https://[2001:db8::7]:8443/a%20b/~c;d=e" }));
    await patch("issuers", { authentication: { jwt: [] } });
  });

  test("of runtimes Process and Pods has backups, an embedded one and one that joins an etcd have none", async () => {
    const version = "v1.34.4";
    await create("backed-up", { version, runtime: "Process", backup: {} });
    await create("restored", { version, runtime: "Process", restore: { from: "web/uid" } });
    const embedded = create("embedded", { version: "v1.34.0", runtime: "Embedded", backup: {} });
    await expect(embedded).rejects.toThrow(/need runtime Pods or Process/);
    const members = [{ name: "master-0", peerURL: "https://192.0.2.1:2380" }];
    const datastore = { stage: "Follow", members, peerHost: "192.0.2.2" };
    const joined = create("joined", { version, runtime: "Process", datastore, backup: {} });
    await expect(joined).rejects.toThrow(/need a dedicated etcd/);
  });

  test("of runtime Process is accepted with the minor before, and upgraded to the next", async () => {
    await create("processes", { version: "v1.33.13", runtime: "Process" });
    await patch("processes", { version: "v1.34.4" });
    await expect(patch("processes", { version: "v1.33.13" })).rejects.toThrow(/cannot be downgraded/);
  });

  test("takes flags of the table, and no others", async () => {
    const flags = {
      apiServer: { eventTTLSeconds: 600, serviceNodePortRange: "20000-22767", auditLogPath: "/etc/x" },
      controllerManager: { terminatedPodGCThreshold: 100 },
    };
    const { auditLogPath: _, ...apiServer } = flags.apiServer;
    await create("flags", { version: "v1.34.0", flags });
    await expect(client.request("GET", `${path}/flags`)).resolves.toMatchObject({
      spec: { flags: { ...flags, apiServer } },
    });
    const stored = await client.request("GET", `${path}/flags`);
    expect(JSON.stringify(stored)).not.toContain('"auditLogPath":"');
  });

  test("takes a rotation of its authority, and its retirement at the same moment in another zone", async () => {
    const authorities = { rotateAfter: "2026-03-01T00:00:00Z", retireOldAfter: "2026-03-01T01:00:00+01:00" };
    await create("rotated", { version: "v1.34.0", authorities });
    await expect(patch("rotated", { authorities: { rotateAfter: null } })).rejects.toThrow(/needs rotateAfter/);
  });

  test("is upgraded, and neither downgraded nor changed to what is not a version", async () => {
    await create("kept", { version: "v1.34.2" });
    await patch("kept", { version: "v1.34.10" });
    await expect(patch("kept", { version: "v1.34.9" })).rejects.toThrow(/cannot be downgraded/);
    await expect(patch("kept", { version: "1.34.11" })).rejects.toThrow(/should match/);
    // By its form, and not by rules for versions that cannot be evaluated for it.
    await expect(patch("kept", { version: "1.34.11" })).rejects.not.toThrow(/index out of bounds|downgraded/);
    await expect(patch("kept", { replicas: 3 })).rejects.toThrow(/only runtime Pods runs more than one API server/);
    await expect(client.request("GET", `${path}/kept`)).resolves.toMatchObject({ spec: { version: "v1.34.10" } });
  });
});
