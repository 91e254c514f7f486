import type { MachinePool, MachinePoolStatus } from "@causeway/api";
import type { Node } from "@causeway/kubernetes";
import type { ProviderObject } from "../contract/provider-object.ts";
import type { Observed } from "../machinepool/observed.ts";
import { cluster, node } from "./objects.ts";

/** The version of Cluster API. */
export const apiVersion = "cluster.x-k8s.io/v1beta2";
const owners = [{ apiVersion, kind: "MachinePool", name: "pool", uid: "uid-pool", controller: true }];
/** The label of the Cluster. */
export const labels = { "cluster.x-k8s.io/cluster-name": "demo" };
/** Where the infrastructure of the pool is. */
export const reference = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "StubMachinePool", name: "pool" };
/** The kind of the infrastructure. */
export const kind = {
  group: reference.apiGroup,
  version: "v1",
  kind: reference.kind,
  plural: "stubmachinepools",
} as never;

/** A MachinePool that has all its metadata. */
export const pool = (fields: { spec?: object; status?: MachinePoolStatus; metadata?: object } = {}): MachinePool => ({
  apiVersion,
  kind: "MachinePool",
  metadata: {
    name: "pool",
    namespace: "default",
    uid: "uid-pool",
    generation: 1,
    labels,
    finalizers: ["machinepool.cluster.x-k8s.io"],
    ownerReferences: [{ apiVersion, kind: "Cluster", name: "demo", uid: "uid-demo" }],
    ...fields.metadata,
  },
  spec: {
    clusterName: "demo",
    replicas: 2,
    template: {
      spec: { clusterName: "demo", bootstrap: { dataSecretName: "data" }, infrastructureRef: reference },
    },
    ...fields.spec,
  },
  ...(fields.status ? { status: fields.status } : {}),
});
/** The infrastructure of the pool, not provisioned yet. */
export const host = (spec: object = {}, status: object = {}): ProviderObject => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1",
  kind: "StubMachinePool",
  metadata: { name: "pool", namespace: "default", uid: "uid-host", labels, ownerReferences: owners },
  spec,
  status,
});
/** The same once it is provisioned, with these provider IDs. */
export const provisioned = (ids: readonly string[]) =>
  host({ providerIDList: ids }, { initialization: { provisioned: true }, replicas: ids.length });
/** A Node that belongs to the pool. */
export const marked = (name: string, ready: "True" | "False" = "True"): Node => ({
  ...node(name),
  metadata: {
    name,
    uid: `uid-${name}`,
    annotations: {
      "cluster.x-k8s.io/cluster-name": "demo",
      "cluster.x-k8s.io/cluster-namespace": "default",
      "cluster.x-k8s.io/owner-kind": "MachinePool",
      "cluster.x-k8s.io/owner-name": "pool",
    },
  },
  status: { conditions: [{ type: "Ready", status: ready }] },
});
/** A pool whose infrastructure works. */
export const observed = (fields: Partial<Observed> = {}): Observed => ({
  pool: pool(),
  cluster: cluster(),
  infrastructure: { reference, kind, object: host() },
  bootstrap: undefined,
  members: undefined,
  machines: [],
  workload: { reach: "connected", nodes: [] },
  ...fields,
});
/** The infrastructure, or none. */
export const on = (object: ProviderObject | undefined) => ({ reference, kind, object });
/** The provider IDs of two machines. */
export const ids = ["openstack:///a", "openstack:///b"];
/** What is copied of them. */
export const copied = { providerIDList: ids };
