/** What stock kubectl prints of Cluster API's kinds: the columns that scripts read, all of them filled. */
import { allKinds, Machine, toCustomResourceDefinition } from "@causeway/api";
import { createClient, loadKubeconfig, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { programs } from "./programs.ts";
import { execute } from "./run.ts";
import { startServer, type Server } from "./servers.ts";

const [kubectl] = programs().kubectls;
const namespace = "default";
const version = "v1.34.0";
const counts = { replicas: 3, readyReplicas: 2, availableReplicas: 2, upToDateReplicas: 1 };
const conditions = ["Available", "Ready", "UpToDate", "Paused"].map((type) => ({
  type,
  status: "True",
  reason: "Test",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
}));
const ref = (kind: string) => ({ apiGroup: "infrastructure.cluster.x-k8s.io", kind, name: "one" });
const template = {
  metadata: { labels: { app: "one" } },
  spec: {
    clusterName: "one",
    version,
    bootstrap: { dataSecretName: "one" },
    infrastructureRef: ref("OpenStackMachineTemplate"),
  },
};
const nodeInfo = {
  machineID: "m",
  systemUUID: "s",
  bootID: "b",
  kernelVersion: "6.1",
  osImage: "Fedora",
  containerRuntimeVersion: "containerd://2.0",
  kubeletVersion: version,
  kubeProxyVersion: version,
  operatingSystem: "linux",
  architecture: "amd64",
};
const selector = { matchLabels: { app: "one" } };

interface Printed {
  readonly kind: string;
  readonly short: string;
  readonly spec: object;
  readonly status: object;
  readonly metadata?: object;
  /** By the Machine. */
  readonly isOwned?: true;
  /** As upstream's CRDs of v1.12 have them, in this order; the provider's as those of v0.14. */
  readonly columns: string;
}

const scalable = "DESIRED CURRENT READY AVAILABLE UP-TO-DATE PAUSED";
const printed: readonly Printed[] = [
  {
    kind: "Cluster",
    short: "cl",
    spec: { topology: { classRef: { name: "class" }, version }, infrastructureRef: ref("OpenStackCluster") },
    status: {
      phase: "Provisioned",
      conditions,
      controlPlane: { ...counts, desiredReplicas: 3 },
      workers: { ...counts, desiredReplicas: 3 },
    },
    columns:
      "NAME|CLUSTERCLASS|AVAILABLE|CP DESIRED|CP CURRENT|CP READY|CP AVAILABLE|CP UP-TO-DATE|W DESIRED|W CURRENT|W READY|W AVAILABLE|W UP-TO-DATE|PAUSED|PHASE|AGE|VERSION",
  },
  {
    kind: "Machine",
    short: "ma",
    spec: { ...template.spec, providerID: "openstack:///1", infrastructureRef: ref("OpenStackMachine") },
    status: {
      phase: "Running",
      conditions,
      failureDomain: "nova",
      nodeRef: { name: "node-1" },
      nodeInfo,
      addresses: [
        { type: "InternalIP", address: "10.6.0.9" },
        { type: "ExternalIP", address: "172.24.4.9" },
      ],
    },
    columns:
      "NAME|CLUSTER|NODE NAME|PROVIDER ID|READY|AVAILABLE|UP-TO-DATE|INTERNAL-IP|EXTERNAL-IP|OS-IMAGE|PAUSED|PHASE|AGE|VERSION",
  },
  {
    kind: "MachineSet",
    short: "ms",
    spec: { clusterName: "one", replicas: 3, selector, template },
    status: { ...counts, conditions },
    columns: `NAME|CLUSTER|${scalable.replaceAll(" ", "|")}|AGE|VERSION`,
  },
  {
    kind: "MachineDeployment",
    short: "md",
    spec: { clusterName: "one", replicas: 3, selector, template },
    status: { ...counts, phase: "Running", conditions },
    columns: `NAME|CLUSTER|AVAILABLE|${scalable.replaceAll(" ", "|")}|PHASE|AGE|VERSION`,
  },
  {
    kind: "KubeadmControlPlane",
    short: "kcp",
    metadata: { labels: { "cluster.x-k8s.io/cluster-name": "one" } },
    spec: {
      replicas: 3,
      version,
      kubeadmConfigSpec: {},
      machineTemplate: { spec: { infrastructureRef: ref("OpenStackMachineTemplate") } },
    },
    status: { ...counts, conditions, initialization: { controlPlaneInitialized: true } },
    columns: `NAME|CLUSTER|AVAILABLE|${scalable.replaceAll(" ", "|")}|INITIALIZED|AGE|VERSION`,
  },
  {
    kind: "OpenStackCluster",
    short: "osc",
    metadata: { labels: { "cluster.x-k8s.io/cluster-name": "one" } },
    spec: {
      identityRef: { name: "c", cloudName: "c" },
      managedSubnets: [{ cidr: "10.6.0.0/24" }],
      controlPlaneEndpoint: { host: "172.24.4.5", port: 6443 },
    },
    status: { conditions, network: { id: "net-1", name: "n" }, bastion: { floatingIP: "172.24.4.6" } },
    columns: "NAME|CLUSTER|READY|NETWORK|ENDPOINT|BASTION IP|AGE",
  },
  {
    kind: "OpenStackMachine",
    short: "osm",
    metadata: { labels: { "cluster.x-k8s.io/cluster-name": "one" } },
    isOwned: true,
    spec: {
      flavor: { filter: { name: "m1.tiny" } },
      image: { filter: { name: "cirros" } },
      providerID: "openstack:///1",
    },
    status: { conditions, instanceState: "ACTIVE" },
    columns: "NAME|CLUSTER|INSTANCESTATE|READY|PROVIDERID|MACHINE|AGE",
  },
];

describe("kubectl get -o wide of Cluster API's kinds", { timeout: 120_000 }, () => {
  if (kubectl === undefined) {
    test.skip("kubectl (none could be built or found)");
    return;
  }
  let server: Server;
  let client: KubernetesClient;
  beforeAll(async () => {
    server = await startServer("causeway");
    client = createClient(loadKubeconfig({ path: server.kubeconfig }));
    for (const kind of allKinds) {
      const body = toCustomResourceDefinition(kind);
      await client.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body });
    }
    for (const one of printed) await create(client, one);
  }, 120_000);
  afterAll(async () => {
    await client.close();
    await server.close();
  });

  test.each(printed)("prints the columns of $short, all filled", async ({ short, columns }) => {
    const args = ["--kubeconfig", server.kubeconfig, "-n", namespace, "get", short, "-o", "wide"];
    const { code, stdout, stderr } = await execute(kubectl, args);
    expect([code, stderr]).toEqual([0, ""]);
    const [header = "", row = ""] = stdout.split("\n");
    // Columns begin where their headers do.
    const starts = [...header.matchAll(/\S+(?: \S+)*/g)].map(({ 0: name, index }) => ({ name, index }));
    const wanted = columns.split("|");
    const names = starts.map(({ name }) => name);
    expect(names.filter((name) => wanted.includes(name))).toEqual(wanted);
    const cells = starts.map(({ index }, at) => row.slice(index, starts[at + 1]?.index).trim());
    expect(cells.filter((cell) => cell === "" || cell === "<none>" || cell === "<unknown>")).toEqual([]);
    expect(cells).toHaveLength(names.length);
  });
});

async function create(client: KubernetesClient, { kind, metadata, spec, status, isOwned }: Printed): Promise<void> {
  const known = allKinds.find((one) => one.kind === kind);
  if (!known) throw new Error(`no kind ${kind}`);
  const type = { ...known, version: "v1beta2" };
  const apiVersion = `${known.group}/v1beta2`;
  const path = `/apis/${apiVersion}/namespaces/${namespace}/${known.plural}`;
  const machine = isOwned && (await client.get(Machine, { namespace, name: "one" }));
  const owner = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Machine", name: "one", uid: machine?.metadata.uid };
  const owned = machine ? { ownerReferences: [owner] } : {};
  const object = { apiVersion, kind, metadata: { name: "one", namespace, ...metadata, ...owned }, spec } as KubeObject;
  for (let attempt = 0; ; attempt++) {
    try {
      const made = await client.create(type, object);
      await client.request("PUT", `${path}/one/status`, { body: { ...made, status } });
      return;
    } catch (error) {
      // The CRD is being established.
      if (attempt > 100 || !String(error).includes("404")) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
