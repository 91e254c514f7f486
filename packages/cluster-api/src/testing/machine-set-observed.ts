import { KubeadmConfig, OpenStackMachine, type Machine } from "@causeway/api";
import type { Observed, ObservedControlPlane } from "../machineset/observed.ts";
import { cluster, deployment, machineSet, referred, servingMachine } from "./objects.ts";

/** What the planner of MachineSets reads, for tables about it. */

/** A control plane that is at this version, or on its way from the one that it has reached. */
export const controlPlane = (requested: string, reached: string | undefined = requested): ObservedControlPlane => ({
  kind: "KubeadmControlPlane",
  name: "control",
  requested,
  reached,
});

/** The content of the templates of a MachineSet. */
export const own = { spec: { template: { spec: { flavor: "small" } } } };

/** A Machine that serves, with the labels of the MachineSet "set". */
export const owned = (name: string, fields: Partial<Machine["metadata"]> = {}): Machine => {
  const base = servingMachine(name);
  const labels = {
    "cluster.x-k8s.io/cluster-name": "demo",
    "cluster.x-k8s.io/deployment-name": "workers",
    "cluster.x-k8s.io/set-name": "set",
  };
  return { ...base, metadata: { ...base.metadata, labels, ...fields } };
};

/** The MachineSet "set" with so many replicas and these Machines. */
export const observed = (replicas: number, machines: readonly Machine[], fields: Partial<Observed> = {}): Observed => {
  const names = new Set(machines.map(({ metadata }) => metadata.name));
  return {
    set: machineSet("set", replicas),
    cluster: cluster(),
    deployment: deployment(replicas),
    machines,
    orphans: [],
    taken: names,
    infrastructure: {
      ...referred("OpenStackMachineTemplate", "workers", own),
      cloneKind: OpenStackMachine,
      clones: names,
    },
    bootstrap: { ...referred("KubeadmConfigTemplate", "workers", own), cloneKind: KubeadmConfig, clones: names },
    controlPlane: controlPlane("v1.34.0"),
    ...fields,
  };
};
