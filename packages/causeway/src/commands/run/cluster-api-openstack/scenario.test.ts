import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  allKinds,
  Cluster,
  infrastructureKinds,
  OpenStackCluster,
  OpenStackClusterIdentity,
  OpenStackFloatingIPPool,
  OpenStackServer,
  toCustomResourceDefinition,
} from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { systemClock } from "@causeway/foundation";
import { createClient, Lease, loadKubeconfig, Namespace, Secret, type KubernetesClient } from "@causeway/kubernetes";
import { startSimulator } from "@causeway/simulator";
import { afterEach, expect, test, vi } from "vitest";
import { runClusterApiOpenStack } from "./action.ts";
import { clusterApiOpenStackCommand } from "./command.ts";
import { readFlags } from "./flags.ts";

// It runs processes.
vi.setConfig({ testTimeout: 300_000 });

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function until<T>(check: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await check().catch(() => undefined);
    if (found) return found;
    await systemClock.sleep(20);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

const flagsOf = (...words: string[]) => {
  const command = clusterApiOpenStackCommand(new AbortController().signal);
  command.action(() => {});
  command.parse(words, { from: "user" });
  return command.opts();
};

/** A Cluster and an OpenStackCluster of v1beta1, as upstream's template without load balancer has them. */
async function createCluster(client: KubernetesClient, namespace: string, cloudsYaml: string): Promise<void> {
  const data = { "clouds.yaml": Buffer.from(cloudsYaml).toString("base64") };
  await client.create(Secret, { apiVersion: "v1", kind: "Secret", metadata: { name: "cloud", namespace }, data });
  const reference = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackCluster", name: "web" };
  const cluster = await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "web", namespace },
    spec: { infrastructureRef: reference },
  });
  const owner = { apiVersion: cluster.apiVersion, kind: "Cluster", name: "web", uid: cluster.metadata.uid ?? "" };
  const body = {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
    kind: "OpenStackCluster",
    metadata: { name: "web", ownerReferences: [owner], labels: { "cluster.x-k8s.io/cluster-name": "web" } },
    spec: {
      apiServerLoadBalancer: { enabled: false },
      disableAPIServerFloatingIP: true,
      apiServerFixedIP: "10.6.0.5",
      externalNetwork: { filter: { name: "public" } },
      identityRef: { cloudName: "simulator", name: "cloud" },
      managedSecurityGroups: { allowAllInClusterTraffic: true },
      managedSubnets: [{ cidr: "10.6.0.0/24" }],
    },
  };
  const path = `/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/${namespace}/openstackclusters`;
  await until(() => client.request("POST", path, { body }));
}

/** Kinds of one version, in a namespace and not, which an API server matches apart. */
async function judgesByWebhook(client: KubernetesClient): Promise<void> {
  const apiVersion = "infrastructure.cluster.x-k8s.io/v1alpha1";
  const server = {
    flavor: "m1.tiny",
    image: { filter: { name: "cirros" } },
    sshKeyName: "",
    identityRef: { name: "cloud", cloudName: "simulator" },
    ports: [{}],
    additionalBlockDevices: [{ name: "root", sizeGiB: 1, storage: { type: "Local" as const } }],
  };
  const metadata = { name: "odd", namespace: "default" };
  await expect(
    client.create(OpenStackServer, { apiVersion, kind: "OpenStackServer", metadata, spec: server }),
  ).rejects.toThrow(/root volume/);
  const named = (name: string, operator: string) => ({
    apiVersion,
    kind: "OpenStackClusterIdentity",
    metadata: { name, namespace: "" },
    spec: {
      secretRef: { name: "cloud", namespace: "default" },
      namespaceSelector: { matchExpressions: [{ key: "team", operator }] },
    },
  });
  await expect(client.create(OpenStackClusterIdentity, named("odd", "Equals"))).rejects.toThrow(/is none of In/);
  await client.create(OpenStackClusterIdentity, named("shared", "Exists"));
  const identityRef = { type: "ClusterIdentity" as const, name: "shared", cloudName: "simulator" };
  const pool = { apiVersion, kind: "OpenStackFloatingIPPool", metadata: { ...metadata, name: "user" } };
  await client.create(OpenStackFloatingIPPool, { ...pool, spec: { identityRef, reclaimPolicy: "Delete" } });
  const identity = { namespace: "", name: "shared" };
  await expect(client.delete(OpenStackClusterIdentity, identity)).rejects.toThrow(
    /used by OpenStackFloatingIPPool default\/user/,
  );
  await client.delete(OpenStackFloatingIPPool, { namespace: "default", name: "user" });
  await until(
    async () => (await client.find(OpenStackFloatingIPPool, { namespace: "default", name: "user" })) === undefined,
  );
  await client.delete(OpenStackClusterIdentity, identity);
}

test("a cluster without the provider gets CRDs, conversion and controllers, elected and measured", async () => {
  const own = new Set(infrastructureKinds.map(({ kind }) => kind));
  const [api, simulator] = await Promise.all([
    startApiServer({ crds: allKinds.filter(({ kind }) => !own.has(kind)).map(toCustomResourceDefinition) }),
    startSimulator({ profile: "instant" }),
  ]);
  closing.push(
    () => simulator.close(),
    () => api.close(),
  );
  const text = await api.management.kubeconfig();
  const dir = mkdtempSync(join(tmpdir(), "causeway-capo-"));
  closing.push(() => rmSync(dir, { recursive: true }));
  const kubeconfig = join(dir, "kubeconfig");
  writeFileSync(kubeconfig, text);
  const client = createClient(loadKubeconfig({ text }));
  closing.push(() => client.close());
  for (const name of ["capo-system", "other"])
    await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const [health, diagnostics, webhook] = await Promise.all([freePort(), freePort(), freePort()]);
  const flags = flagsOf(
    "--kubeconfig",
    kubeconfig,
    "--install-crds",
    "--leader-elect",
    "--namespace",
    "default",
    "--v=2",
    "--webhook-port",
    `${webhook}`,
    "--health-addr",
    `127.0.0.1:${health}`,
    "--insecure-diagnostics=true",
    "--diagnostics-address",
    `127.0.0.1:${diagnostics}`,
    "--log-level",
    "silent",
    "--sync-period=10m",
  );
  const stop = new AbortController();
  const running = runClusterApiOpenStack(flags, stop.signal);
  closing.push(async () => {
    stop.abort();
    await running;
  });
  await createCluster(client, "other", simulator.cloudsYaml);
  await createCluster(client, "default", simulator.cloudsYaml);
  const ready = await until(async () => {
    const object = await client.get(OpenStackCluster, { namespace: "default", name: "web" });
    return object.status?.initialization?.provisioned === true && object;
  });
  expect(ready.spec).toMatchObject({
    apiServer: { enableFloatingIP: false, fixedIP: "10.6.0.5", managedLoadBalancer: { enabled: false } },
    controlPlaneEndpoint: { host: "10.6.0.5", port: 6443 },
  });
  const path = "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/default/openstackclusters/web";
  expect(await client.request("GET", path)).toMatchObject({
    spec: { apiServerFixedIP: "10.6.0.5", disableAPIServerFloatingIP: true },
    status: { ready: true, failureDomains: { nova: { controlPlane: true } } },
  });
  const elsewhere = await client.get(OpenStackCluster, { namespace: "other", name: "web" });
  expect([elsewhere.status, elsewhere.metadata.finalizers]).toEqual([undefined, undefined]);
  const lease = await client.get(Lease, { namespace: "capo-system", name: "controller-leader-election-capo" });
  expect(lease.spec?.holderIdentity).toBeTruthy();
  expect(await (await fetch(`http://127.0.0.1:${health}/readyz`)).text()).toBe("ok");
  const measured = await (await fetch(`http://127.0.0.1:${diagnostics}/metrics`)).text();
  expect(measured).toContain('leader_election_master_status{name="controller-leader-election-capo"} 1');
  await judgesByWebhook(client);
  await client.delete(OpenStackCluster, { namespace: "default", name: "web" });
  await until(async () => (await client.find(OpenStackCluster, { namespace: "default", name: "web" })) === undefined);
  const left = simulator.inventory("demo").filter((line) => !/^security_group(_rule \S+$| \S+ default$)/.test(line));
  expect(left).toEqual([]);
});

test.each([
  [["--health-addr", "9440"], /--health-addr must be an address with a port/],
  [["--webhook-port", "70000"], /--webhook-port must be a port/],
  [["--leader-elect", "--leader-elect-renew-deadline", "20s"], /less than the lease duration/],
  [["--leader-elect", "--leader-elect-retry-period", "fast"], /a duration such as 15s/],
  [["--ca-certs", "/nowhere.pem"], /\/nowhere\.pem cannot be read/],
])("run cluster-api-openstack refuses the options %j", (words, message) => {
  expect(() => readFlags(flagsOf(...words))).toThrow(message);
});
