import type { Secret, Service } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { ControlPlaneSpec } from "../runtime.ts";
import { namespaceOf } from "./tenant.ts";
import { PlayedCluster } from "./testing/played-cluster.ts";
import { own, specOf } from "./testing/spec.ts";

const believing = (url: string, more: object = {}): Partial<ControlPlaneSpec> => ({
  authentication: {
    jwt: [
      {
        issuer: { url, audiences: ["web"], ...more },
        claimMappings: { username: { claim: "sub", prefix: "oidc:" } },
      },
    ],
  },
});

describe("a control plane as pods is refused, and nothing is changed,", () => {
  const initialized = { initialized: true } as const;
  const foreign = { "controlplane.causeway.dev/id": "other.web" };
  const cases: [string, (cluster: PlayedCluster) => Partial<ControlPlaneSpec>, string, "user" | "operator"][] = [
    ["with an older version", () => ({ version: "v1.33.1" }), "PODS_DOWNGRADE", "user"],
    ["with a pre-release of its version", () => ({ version: "v1.33.2-rc.1" }), "PODS_DOWNGRADE", "user"],
    ["with a version that skips a minor", () => ({ version: "v1.35.0" }), "PODS_MINOR_SKIPPED", "user"],
    ["with a version that is not in the table", () => ({ version: "v1.12.0" }), "PODS_VERSION_NOT_SERVED", "user"],
    [
      "with Keystone",
      () => ({ authentication: { external: { type: "keystone", settings: {} } } }),
      "PODS_UNSUPPORTED",
      "user",
    ],
    [
      "with an issuer that the operator permits nowhere",
      () => believing("https://one.test"),
      "ISSUERS_NOT_PERMITTED",
      "operator",
    ],
    [
      "with an issuer at an address outside of the operator's networks",
      (cluster) => {
        cluster.settings = { ...cluster.settings, issuerNetworks: ["192.0.2.0/24"] };
        return believing("https://10.0.0.1");
      },
      "ISSUERS_NOT_PERMITTED",
      "user",
    ],
    [
      "with an issuer whose authority cannot be read",
      (cluster) => {
        cluster.settings = { ...cluster.settings, issuerNetworks: ["192.0.2.0/24"] };
        return believing("https://one.test", { certificateAuthority: "none" });
      },
      "ISSUERS_INVALID",
      "user",
    ],
    [
      "with a node port and no address",
      () => ({ pods: own({ exposure: "NodePort" }) }),
      "PODS_ENDPOINT_MISSING",
      "user",
    ],
    [
      "behind a gateway that there is not",
      () => ({ pods: own({ exposure: "Gateway" }) }),
      "PODS_UNSUPPORTED",
      "operator",
    ],
    ["with two members", () => ({ pods: own({ datastore: { members: 2 } }) }), "PODS_MEMBERS_INVALID", "user"],
    [
      "without its cloud's configuration",
      () => ({ pods: own({ cloudConfigSecret: "cloud" }) }),
      "PODS_CLOUD_CONFIG_MISSING",
      "user",
    ],
    ["with an access list that has no network", () => ({ allowedCidrs: ["all"] }), "PODS_ACCESS_LIST_INVALID", "user"],
    ["with an empty access list", () => ({ allowedCidrs: [] }), "PODS_ACCESS_LIST_INVALID", "user"],
    [
      "with an access list and a node port",
      () => ({
        allowedCidrs: ["192.0.2.0/24"],
        pods: own({ exposure: "NodePort" }),
        endpoint: { host: "10.6.0.1", port: 0 },
      }),
      "PODS_ACCESS_LIST_INVALID",
      "user",
    ],
    [
      "with an access list and the shared gateway",
      () => ({ allowedCidrs: ["192.0.2.0/24"], pods: own({ exposure: "Gateway" }) }),
      "PODS_ACCESS_LIST_INVALID",
      "user",
    ],
    [
      "with a flag that no tenant may set",
      () => ({ flags: { apiServer: { anonymousAuth: false } } }),
      "FLAG_NOT_ALLOWED",
      "user",
    ],
    ["with another datastore", () => ({ pods: {} }), "PODS_DATASTORE_CHANGED", "user"],
    [
      "when its namespace is another's",
      (cluster) => {
        if (cluster.namespace) cluster.namespace.metadata.annotations = foreign;
        return {};
      },
      "PODS_NAMESPACE_FOREIGN",
      "operator",
    ],
    [
      "when its namespace with the data is gone",
      (cluster) => {
        cluster.namespace = undefined;
        cluster.live.clear();
        return initialized;
      },
      "PODS_DATA_LOST",
      "operator",
    ],
    [
      "when the key of its Secrets is gone",
      (cluster) => {
        cluster.live.delete("Secret/encryption");
        cluster.live.delete("Secret/encryption-copy");
        return initialized;
      },
      "PODS_ENCRYPTION_KEY_LOST",
      "operator",
    ],
    [
      "when the authority of its etcd is gone with its copy",
      (cluster) => {
        cluster.live.delete("Secret/etcd-ca");
        cluster.live.delete("Secret/etcd-ca-copy");
        return {};
      },
      "PODS_AUTHORITY_LOST",
      "operator",
    ],
    [
      "when the authority of its etcd is another than the one that was created",
      (cluster) => {
        const secret = structuredClone(cluster.live.get("Secret/etcd-ca")) as Secret;
        secret.data = { "ca.crt": "QU5PVEhFUg==", "ca.key": "QU5PVEhFUg==" };
        cluster.live.set("Secret/etcd-ca", secret);
        return {};
      },
      "PODS_KEY_DIFFERS",
      "operator",
    ],
    [
      "with volumes of another size",
      () => ({ pods: own({ datastore: { storage: "20Gi" } }) }),
      "PODS_STORAGE_INVALID",
      "user",
    ],
    [
      "with more data than its volumes hold",
      () => ({ limits: { objects: 50_000, bytes: 9 * 2 ** 30 } }),
      "PODS_STORAGE_INVALID",
      "user",
    ],
    [
      "with a larger size than the operator allows",
      () => ({ pods: own({ size: "Large" }) }),
      "PODS_CEILING_EXCEEDED",
      "user",
    ],
    ["with more API servers than the operator allows", () => ({ replicas: 4 }), "PODS_CEILING_EXCEEDED", "user"],
  ];
  test.each(cases)("%s", (_, change, code, actor) => {
    const cluster = new PlayedCluster({
      versions: { "v1.35": { etcd: "3.6.6-0" } },
      ceilings: { size: "Medium", replicas: 3 },
    });
    cluster.complete(specOf());
    cluster.performed.splice(0);
    const changes = change(cluster);
    const { status } = cluster.settle(specOf(changes));
    expect(status.problem).toMatchObject({ code, actor });
    expect(cluster.performed).toEqual([]);
  });
});

test("a load balancer with a name and no address is reported to the user", () => {
  const cluster = new PlayedCluster();
  cluster.settle(specOf());
  const service = cluster.live.get("Service/kube-apiserver") as Service;
  cluster.live.set("Service/kube-apiserver", {
    ...service,
    status: { loadBalancer: { ingress: [{ hostname: "lb.example.org" }] } },
  } as Service);
  expect(cluster.settle(specOf()).status.problem).toMatchObject({ code: "PODS_ENDPOINT_MISSING", actor: "user" });
});

test("namespaces of two tenants, and of two management clusters, have different names of 63 characters at most", () => {
  const names = [
    ["a", "n.web"],
    ["b", "n.web"],
    ["a", "n-b.web"],
    ["a", "n.b-web"],
    ["a", `n.${"x".repeat(63)}`],
    ["a", `n.${"x".repeat(62)}y`],
  ].map(([owner = "", id = ""]) => namespaceOf(owner, id));
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])$/);
});
