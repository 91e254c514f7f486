import type { KubeadmControlPlane, Machine } from "@causeway/api";
import type { EtcdMember } from "../objects/access.ts";
import type {
  Observed as ControlPlaneObserved,
  OwnedMachine,
  ObservedWorkload,
} from "../kubeadmcontrolplane/observed.ts";
import { cleanupHook, configSpec, healthOf, inPlaceSpec, machineLabels } from "../kubeadmcontrolplane/machine.ts";
import { at, cluster, condition, now } from "./objects.ts";

/** A KubeadmControlPlane "control" and its machines, for tables about its planner. */

export const day = 24 * 3600_000;
export const reference = {
  apiGroup: "infrastructure.cluster.x-k8s.io",
  kind: "OpenStackMachineTemplate",
  name: "control",
};
const kind = (name: string) =>
  ({ group: reference.apiGroup, version: "v1beta2", kind: name, plural: name.toLowerCase() }) as never;
const owner = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "demo", uid: "uid-demo" };
const clusterLabels = { "cluster.x-k8s.io/cluster-name": "demo" };

interface Given {
  readonly spec?: Partial<KubeadmControlPlane["spec"]>;
  readonly metadata?: object;
  readonly initialized?: boolean;
}
export const control = ({ spec = {}, metadata = {}, initialized = true }: Given = {}): KubeadmControlPlane => ({
  apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
  kind: "KubeadmControlPlane",
  metadata: {
    name: "control",
    namespace: "default",
    uid: "uid-control",
    generation: 1,
    finalizers: ["kubeadm.controlplane.cluster.x-k8s.io"],
    ownerReferences: [owner],
    ...metadata,
  },
  spec: { replicas: 3, version: "v1.34.0", machineTemplate: { spec: { infrastructureRef: reference } }, ...spec },
  status: { initialization: { controlPlaneInitialized: initialized } },
});
export const demo = cluster({
  spec: { controlPlaneEndpoint: { host: "10.0.0.5", port: 6443 } },
  status: { initialization: { infrastructureProvisioned: true } },
});

export interface MachineGiven {
  readonly version?: string;
  readonly template?: string;
  readonly domain?: string;
  readonly born?: number;
  readonly annotations?: Record<string, string>;
  readonly deleting?: string;
  readonly failed?: boolean;
  readonly unhealthy?: boolean;
  readonly noNode?: boolean;
  readonly noMember?: boolean;
  readonly outdated?: string;
  /** Of a control plane whose etcd is elsewhere. */
  readonly external?: true;
}

/** The spec of such a control plane. */
export const externalEtcd = {
  kubeadmConfigSpec: {
    clusterConfiguration: {
      etcd: {
        external: {
          endpoints: ["https://etcd.example.com:2379"],
          caFile: "/etc/etcd/ca.crt",
          certFile: "/etc/etcd/client.crt",
          keyFile: "/etc/etcd/client.key",
        },
      },
    },
  },
};
export const member = (name: string, fields: Partial<EtcdMember> = {}): EtcdMember => ({
  id: `id-${name}`,
  name,
  isLearner: false,
  isLeader: name === "a",
  ...fields,
});

/** A machine as its control plane wants it, with everything reported; `given` says what is otherwise. */
export function owned(name: string, given: MachineGiven = {}): OwnedMachine {
  const base = control(given.external ? { spec: externalEtcd } : {});
  const leftEtcd = {
    ...condition("EtcdMemberHealthy", "False"),
    reason: "NotHealthy",
    message: `Etcd doesn't have a member for Node ${name}`,
  };
  const healthy = healthOf({ spec: inPlaceSpec(base) as Machine["spec"] }).map((type) => ({
    ...condition(type, given.unhealthy ? "False" : "True"),
    reason: type === "EtcdMemberHealthy" ? "Healthy" : "Running",
    message: "",
  }));
  const health = given.noMember ? [...healthy.slice(0, -1), leftEtcd] : healthy;
  const upToDate = given.outdated
    ? { ...condition("UpToDate", "False"), reason: "NotUpToDate", message: given.outdated }
    : { ...condition("UpToDate"), message: "" };
  const failed = given.failed
    ? [condition("HealthCheckSucceeded", "False"), condition("OwnerRemediated", "False")]
    : [];
  const deleting = given.deleting ? [{ ...condition("Deleting"), reason: given.deleting }] : [];
  const machine: Machine = {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: {
      name,
      namespace: "default",
      uid: `uid-${name}`,
      labels: machineLabels(base, "demo"),
      annotations: { [cleanupHook]: "", ...given.annotations },
      creationTimestamp: at(given.born ?? now - day),
      ...(given.deleting ? { deletionTimestamp: at(now) } : {}),
    },
    spec: {
      ...inPlaceSpec(base),
      clusterName: "demo",
      version: given.version ?? "v1.34.0",
      ...(given.domain ? { failureDomain: given.domain } : {}),
      bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name } },
      infrastructureRef: { apiGroup: reference.apiGroup, kind: "OpenStackMachine", name },
    },
    status: {
      conditions: [upToDate, ...health, ...failed, ...deleting],
      ...(given.noNode ? {} : { nodeRef: { name } }),
      initialization: { infrastructureProvisioned: true },
    },
  };
  const clonedFrom = {
    "cluster.x-k8s.io/cloned-from-name": given.template ?? "control",
    "cluster.x-k8s.io/cloned-from-groupkind": `${reference.kind}.${reference.apiGroup}`,
  };
  const object = (apiVersion: string, type: string, spec: unknown, annotations = {}) => ({
    apiVersion,
    kind: type,
    metadata: { name, namespace: "default", annotations },
    spec,
  });
  return {
    machine,
    config: {
      reference: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name },
      kind: kind("KubeadmConfig"),
      object: object("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig", configSpec(base, "join")),
    },
    host: {
      reference: { apiGroup: reference.apiGroup, kind: "OpenStackMachine", name },
      kind: kind("OpenStackMachine"),
      object: object(`${reference.apiGroup}/v1beta2`, "OpenStackMachine", {}, clonedFrom),
    },
  };
}

export const podsOf = (machines: readonly OwnedMachine[]) =>
  new Map(
    machines
      .filter(({ machine }) =>
        machine.status?.conditions?.some(({ type, status }) => type === "APIServerPodHealthy" && status === "True"),
      )
      .flatMap(({ machine: { metadata } }) =>
        ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"].map((component) => {
          const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" as const }] };
          return [
            `${metadata.name}/${component}`,
            { apiVersion: "v1", kind: "Pod", metadata: { name: `${component}-${metadata.name}` }, status } as never,
          ] as const;
        }),
      ),
  );

export function observed(
  machines: readonly OwnedMachine[],
  fields: Partial<ControlPlaneObserved> & { members?: readonly EtcdMember[] } = {},
): ControlPlaneObserved {
  const { members, ...more } = fields;
  const names = machines.map(({ machine }) => machine.metadata.name);
  const workload: ObservedWorkload = {
    reach: "connected",
    pods: podsOf(machines),
    etcd: { members: members ?? names.map((name) => member(name)) },
    kubeadmVersion: "v1.34.0",
    expiries: new Map(),
    addons: {},
  };
  return {
    control: control(),
    cluster: demo,
    machines,
    infrastructure: {
      reference,
      kind: kind("OpenStackMachineTemplate"),
      object: {
        apiVersion: `${reference.apiGroup}/v1beta2`,
        kind: reference.kind,
        metadata: { name: "control", namespace: "default", labels: clusterLabels, ownerReferences: [owner] },
        spec: { template: { spec: { flavor: "m1" } } },
      },
      cloneKind: kind("OpenStackMachine"),
      clones: new Set(names),
    },
    configKind: kind("KubeadmConfig"),
    configs: new Set(names),
    taken: new Set(names),
    missingCertificates: [],
    kubeconfig: { exists: true, expires: now + 300 * day },
    workload,
    workers: 0,
    ...more,
  };
}
