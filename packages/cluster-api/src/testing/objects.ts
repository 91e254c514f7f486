import {
  type Cluster,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  OpenStackMachine,
  OpenStackMachineTemplate,
} from "@causeway/api";
import { KubeadmConfig, KubeadmConfigTemplate, type Kind } from "@causeway/api";
import type { KubeObject, Node, Pod } from "@causeway/kubernetes";
import type { Referred } from "../contract/kind-table.ts";
import type { ProviderObject } from "../contract/provider-object.ts";
import { EXCLUDED_FROM_BALANCERS } from "../machine/deletion.ts";
import type { ObservedDrain } from "../machine/observed.ts";

/** Objects as caches hold them, for tables about planners. */

export const now = Date.UTC(2026, 0, 1);
export const at = (milliseconds: number): string => new Date(milliseconds).toISOString();
export const condition = (type: string, status: "True" | "False" | "Unknown" = "True", since = now) => ({
  type,
  status,
  reason: type,
  lastTransitionTime: at(since),
});

const apiVersion = "cluster.x-k8s.io/v1beta2";
const meta = (name: string) => ({
  name,
  namespace: "default",
  uid: `uid-${name}`,
  resourceVersion: "1",
  generation: 1,
});
const infra = (kind: string, name: string) => ({ apiGroup: OpenStackMachine.group, kind, name });
const boot = (kind: string, name: string) => ({ apiGroup: KubeadmConfig.group, kind, name });

export function cluster(fields: Partial<Cluster> = {}): Cluster {
  return {
    apiVersion,
    kind: "Cluster",
    metadata: { ...meta("demo"), finalizers: ["cluster.cluster.x-k8s.io"] },
    spec: {},
    status: { conditions: [condition("ControlPlaneInitialized")] },
    ...fields,
  };
}

export function machine(name: string, fields: Partial<Machine> = {}): Machine {
  return {
    apiVersion,
    kind: "Machine",
    metadata: meta(name),
    spec: {
      clusterName: "demo",
      bootstrap: { configRef: boot("KubeadmConfig", name) },
      infrastructureRef: infra("OpenStackMachine", name),
    },
    ...fields,
  };
}

/** A Machine whose Node serves. */
export function servingMachine(name: string, fields: Partial<Machine> = {}): Machine {
  const base = machine(name);
  const conditions = [condition("Ready"), condition("Available"), condition("UpToDate")];
  return machine(name, {
    spec: { ...base.spec, providerID: `openstack:///${name}` },
    status: { conditions, nodeRef: { name }, initialization: { infrastructureProvisioned: true } },
    ...fields,
  });
}

export const template = {
  metadata: { labels: { "cluster.x-k8s.io/cluster-name": "demo", "cluster.x-k8s.io/deployment-name": "workers" } },
  spec: {
    clusterName: "demo",
    version: "v1.34.0",
    bootstrap: { configRef: boot("KubeadmConfigTemplate", "workers") },
    infrastructureRef: infra("OpenStackMachineTemplate", "workers"),
  },
};

export function machineSet(name: string, replicas: number, fields: Partial<MachineSet> = {}): MachineSet {
  return {
    apiVersion,
    kind: "MachineSet",
    metadata: {
      ...meta(name),
      creationTimestamp: at(now - 1000),
      labels: { "cluster.x-k8s.io/cluster-name": "demo", "cluster.x-k8s.io/deployment-name": "workers" },
      finalizers: ["cluster.x-k8s.io/machineset"],
      ownerReferences: [
        { apiVersion, kind: "MachineDeployment", name: "workers", uid: "uid-workers", controller: true },
      ],
    },
    spec: { clusterName: "demo", replicas, selector: { matchLabels: { a: "b" } }, template },
    ...fields,
  };
}

export function deployment(replicas: number, fields: Partial<MachineDeployment["spec"]> = {}): MachineDeployment {
  return {
    apiVersion,
    kind: "MachineDeployment",
    metadata: {
      ...meta("workers"),
      labels: { "cluster.x-k8s.io/cluster-name": "demo" },
      finalizers: ["cluster.x-k8s.io/machinedeployment"],
      ownerReferences: [{ apiVersion, kind: "Cluster", name: "demo", uid: "uid-demo" }],
    },
    spec: {
      clusterName: "demo",
      replicas,
      selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": "workers" } },
      template,
      ...fields,
    },
  };
}

const kinds = { OpenStackMachine, OpenStackMachineTemplate, KubeadmConfig, KubeadmConfigTemplate };

/** A provider's object behind a reference; `fields` undefined: it does not exist. */
export function referred(
  kindName: keyof typeof kinds,
  name: string,
  fields?: { spec?: unknown; status?: unknown; deleting?: boolean },
): Referred<ProviderObject> {
  const kind: Kind<KubeObject> = kinds[kindName];
  const reference = { apiGroup: kind.group, kind: kind.kind, name };
  if (!fields) return { reference, kind, object: undefined };
  const { deleting, ...rest } = fields;
  const metadata = { ...meta(name), ...(deleting ? { deletionTimestamp: at(now) } : {}) };
  return {
    reference,
    kind,
    object: { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata, ...rest },
  };
}

export function node(name: string, fields: Partial<Node["spec"]> & { status?: Node["status"] } = {}): Node {
  const { status, ...spec } = fields;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      uid: `uid-node-${name}`,
      ...(spec.unschedulable ? { labels: { [EXCLUDED_FROM_BALANCERS]: "" } } : {}),
    },
    spec: { providerID: `openstack:///${name}`, ...spec },
    status: status ?? { conditions: [{ type: "Ready", status: "True" }], nodeInfo: { kubeletVersion: "v1.34.0" } },
  };
}

/** A running pod of the workload cluster. */
export function podOn(name: string, metadata: Partial<Pod["metadata"]> = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", uid: name, ...metadata },
    status: { phase: "Running" },
  } as Pod;
}

/** What is read of a Node that is not drained. */
export const noDrain: ObservedDrain = { pods: [], rules: [], namespaces: new Map() };
