/**
 * A hosted control plane of another project with our infrastructure provider on the simulated cloud: an object of a
 * kind that we know by the contract alone, which gives the endpoint later.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  allKinds,
  Cluster,
  clusterSecretType,
  conversionsOf,
  KubeadmConfigTemplate,
  labels,
  Machine,
  MachineDeployment,
  OpenStackCluster,
  OpenStackMachineTemplate,
  toCustomResourceDefinition,
} from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { systemClock } from "@causeway/foundation";
import {
  createClient,
  getCondition,
  loadKubeconfig,
  Node,
  Secret,
  type CustomResourceDefinition,
  type KubeObject,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { runManagers } from "../../testing/managers.ts";
import { CONTRACT_LABEL, contractKinds } from "./contract-kinds.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const namespace = "default";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const group = "controlplane.cluster.x-k8s.io";
const foreign = {
  group,
  version: "v1alpha2",
  kind: "TenantControlPlane",
  plural: "tenantcontrolplanes",
  namespaced: true,
};
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${foreign.plural}.${group}`, labels: { [CONTRACT_LABEL]: foreign.version } },
  spec: {
    group,
    scope: "Namespaced",
    names: {
      kind: foreign.kind,
      plural: foreign.plural,
      singular: "tenantcontrolplane",
      listKind: "TenantControlPlaneList",
    },
    versions: [
      {
        name: foreign.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
} as unknown as CustomResourceDefinition;
const definitions = [...allKinds.map(toCustomResourceDefinition), definition];

let api: ApiServer;
let simulator: Simulator;
let client: KubernetesClient;

beforeAll(async () => {
  [api, simulator] = await Promise.all([
    startApiServer({ crds: definitions, conversions: conversionsOf(allKinds) }),
    startSimulator({ profile: "instant" }),
  ]);
  client = createClient(loadKubeconfig({ text: await api.management.kubeconfig() }));
});
afterAll(async () => {
  await client.close();
  await Promise.all([api.close(), simulator.close()]);
});

const run = () => runManagers(client, contractKinds(definitions));

async function until<T>(what: string, check: () => Promise<T | undefined | false>): Promise<T> {
  for (const end = Date.now() + 60_000; Date.now() < end; await systemClock.sleep(20)) {
    const found = await check().catch(() => undefined);
    if (found) return found;
  }
  const clusters = [...(await client.list(Cluster)).items, ...(await client.list(OpenStackCluster)).items];
  const machines = (await client.list(Machine)).items;
  throw new Error(
    `never came: ${what}: ${JSON.stringify(
      [...clusters, ...machines].map((o) => [o.kind, o.status]),
      null,
      1,
    )}`,
  );
}

const reference = (apiGroup: string, kind: string, name: string) => ({
  apiGroup: `${apiGroup}.cluster.x-k8s.io`,
  kind,
  name,
});

async function createCluster(name: string): Promise<void> {
  const meta = { name, namespace };
  const machine = { flavor: { filter: { name: "m1.small" } }, image: { filter: { name: "cirros" } } };
  const data = { "clouds.yaml": base64(simulator.cloudsYaml) };
  await client.create(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `${name}-cloud`, namespace },
    data,
  });
  const objects: readonly [typeof Cluster, KubeObject & { spec: object }][] = [
    [
      OpenStackCluster,
      {
        apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
        kind: "OpenStackCluster",
        metadata: meta,
        spec: {
          identityRef: { name: `${name}-cloud`, cloudName: "simulator" },
          managedSubnets: [{ cidr: "10.6.0.0/24" }],
          managedSecurityGroups: {},
          apiServer: { enableFloatingIP: false, managedLoadBalancer: { enabled: false } },
        },
      },
    ],
    [
      OpenStackMachineTemplate,
      {
        apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
        kind: "OpenStackMachineTemplate",
        metadata: meta,
        spec: { template: { spec: machine } },
      },
    ],
    [
      KubeadmConfigTemplate,
      {
        apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
        kind: "KubeadmConfigTemplate",
        metadata: meta,
        spec: { template: { spec: { joinConfiguration: {} } } },
      },
    ],
    [
      foreign,
      {
        apiVersion: `${group}/${foreign.version}`,
        kind: foreign.kind,
        metadata: meta,
        spec: { version: "v1.34.0", replicas: 2 },
      },
    ],
    [
      Cluster,
      {
        apiVersion: "cluster.x-k8s.io/v1beta2",
        kind: "Cluster",
        metadata: meta,
        spec: {
          infrastructureRef: reference("infrastructure", "OpenStackCluster", name),
          controlPlaneRef: reference("controlplane", foreign.kind, name),
        },
      },
    ],
    [
      MachineDeployment,
      {
        apiVersion: "cluster.x-k8s.io/v1beta2",
        kind: "MachineDeployment",
        metadata: meta,
        spec: {
          clusterName: name,
          replicas: 2,
          template: {
            spec: {
              clusterName: name,
              version: "v1.34.0",
              bootstrap: { configRef: reference("bootstrap", "KubeadmConfigTemplate", name) },
              infrastructureRef: reference("infrastructure", "OpenStackMachineTemplate", name),
            },
          },
        },
      },
    ],
  ] as never;
  for (const [kind, object] of objects) await client.create(kind, object as never);
}

/** What the other project's controller writes by the contract once its control plane serves. */
async function serve(
  name: string,
  endpoint: { host: string; port: number },
  on: "itself" | "infrastructure",
): Promise<KubernetesClient> {
  const workload = await api.ensureCluster(`${namespace}-${name}`, {
    listen: { host: "127.0.0.1", port: 0, names: [] },
  });
  const { certificate, key } = workload.authority;
  const kubeconfig = await workload.kubeconfig();
  const secrets = {
    [`${name}-ca`]: { "tls.crt": base64(certificate), "tls.key": base64(key) },
    [`${name}-kubeconfig`]: { value: base64(kubeconfig) },
  };
  for (const [secret, data] of Object.entries(secrets)) {
    const metadata = { name: secret, namespace, labels: { [labels.clusterName]: name } };
    await client.create(Secret, { apiVersion: "v1", kind: "Secret", metadata, type: clusterSecretType, data });
  }
  const body = { spec: { controlPlaneEndpoint: endpoint } };
  await client.patch(
    (on === "itself" ? foreign : OpenStackCluster) as never,
    { namespace, name },
    { type: "merge", body },
  );
  const conditions = [
    {
      type: "Available",
      status: "True",
      reason: "Available",
      message: "",
      lastTransitionTime: new Date(0).toISOString(),
    },
  ];
  const status = {
    externalManagedControlPlane: true,
    initialization: { controlPlaneInitialized: true },
    version: "v1.34.0",
    conditions,
  };
  await client.patch(
    foreign as never,
    { namespace, name },
    { type: "merge", body: { status } },
    { subresource: "status" },
  );
  return createClient(loadKubeconfig({ text: kubeconfig }));
}

describe("a cluster whose hosted control plane is another project's", () => {
  test.each(["itself", "infrastructure"] as const)(
    "has its workers join the endpoint that comes later, written to %s, makes none, and is deleted without a trace",
    async (on) => {
      const kill = run();
      const name = `by-${on}`;
      const before = simulator.inventory("demo");
      const count = (kind: string) => simulator.inventory("demo").filter((line) => line.startsWith(`${kind} `)).length;
      try {
        await createCluster(name);
        const infrastructure = () => client.get(OpenStackCluster, { namespace, name });
        await until(
          "a provisioned OpenStackCluster",
          async () => (await infrastructure()).status?.initialization?.provisioned,
        );
        expect(getCondition((await infrastructure()).status?.conditions, "APIEndpointReady")?.reason).toBe(
          "EndpointFromControlPlane",
        );
        const early = await client.get(Cluster, { namespace, name });
        expect([early.spec.controlPlaneEndpoint, early.status?.phase]).toEqual([undefined, "Provisioning"]);
        expect([count("server"), count("floatingip"), count("loadbalancer")]).toEqual([0, 0, 0]);

        const endpoint = { host: `${on}.example.com`, port: 6443 };
        const inside = await serve(name, endpoint, on);
        const workers = await until("two servers", async () => {
          const found = (await client.list(Machine, { namespace })).items.filter(
            ({ spec }) => spec.clusterName === name,
          );
          return found.length === 2 && found.every(({ spec }) => spec.providerID !== undefined) && found;
        });
        for (const { userData } of simulator.machines()) expect(userData).toContain(`${on}.example.com:6443`);
        for (const { metadata, spec } of workers) {
          const node = {
            apiVersion: "v1",
            kind: "Node",
            metadata: { name: metadata.name },
            spec: { providerID: spec.providerID ?? "" },
          };
          await inside.create(Node, node);
        }
        await until("two Machines with Nodes", async () => {
          const found = (await client.list(Machine, { namespace })).items.filter(
            ({ spec }) => spec.clusterName === name,
          );
          return found.length === 2 && found.every(({ status }) => status?.nodeRef !== undefined);
        });
        const { spec, status } = await client.get(Cluster, { namespace, name });
        expect([spec.controlPlaneEndpoint, status?.phase]).toEqual([endpoint, "Provisioned"]);
        expect([count("server"), count("floatingip"), count("loadbalancer")]).toEqual([2, 0, 0]);
        expect((await infrastructure()).spec.controlPlaneEndpoint).toEqual(on === "itself" ? undefined : endpoint);

        await client.delete(Cluster, { namespace, name });
        await until("no Cluster", async () => (await client.find(Cluster, { namespace, name })) === undefined);
        expect(await client.find(foreign as never, { namespace, name })).toBeUndefined();
        expect(simulator.inventory("demo")).toEqual(before);
        await inside.close();
      } finally {
        await kill();
      }
    },
  );
});
