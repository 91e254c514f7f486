import { finalizers, type Cluster, type MachineSet } from "@causeway/api";
import { controllerOf, type ObjectKey } from "@causeway/kubernetes";
import { by, clusterIndex, clusterKeyOf, lookUp, namesIn, type Context } from "../objects/context.ts";
import { controlPlaneSpecVersionOf, statusVersionOf } from "../contract/provider-object.ts";
import type { ContractReference } from "../contract/kind-table.ts";
import { isLeaving } from "../objects/metadata.ts";
import { matches } from "../objects/selector.ts";
import { cloneKind } from "../contract/clone-kind.ts";
import type { Observed, ObservedTemplate } from "./observed.ts";

/** Reads caches only. */
export function gather(context: Context, key: ObjectKey): Observed | undefined {
  const { sets, machines, clusters, deployments, pendingDeletions, clock } = context;
  const set = sets.get(key);
  if (!set || isLeaving(set, finalizers.machineSet)) return undefined;
  const now = clock.now();
  const owner = controllerOf(set)?.name;
  const cluster = clusters.get(clusterKeyOf(set));
  const { infrastructureRef, bootstrap } = set.spec.template.spec;
  return {
    set,
    cluster,
    deployment: owner === undefined ? undefined : deployments.get({ namespace: key.namespace, name: owner }),
    machines: machines
      .byIndex(by.controller, set.metadata.uid ?? "")
      .map((machine) => pendingDeletions.view(machine, now)),
    orphans: orphansOf(context, set),
    taken: namesIn(machines, key.namespace),
    infrastructure: observedTemplate(context, key.namespace, infrastructureRef),
    bootstrap: bootstrap.configRef && observedTemplate(context, key.namespace, bootstrap.configRef),
    controlPlane: cluster && controlPlaneOf(context, cluster),
  };
}

function controlPlaneOf(context: Context, { metadata, spec }: Cluster): Observed["controlPlane"] {
  const reference = spec.controlPlaneRef;
  const object = reference && lookUp(context, metadata.namespace ?? "", reference).object;
  const requested = object && controlPlaneSpecVersionOf(object);
  if (requested === undefined) return undefined;
  return {
    kind: reference?.kind ?? "",
    name: object?.metadata.name ?? "",
    requested,
    reached: object && statusVersionOf(object),
  };
}

function orphansOf({ machines }: Context, set: MachineSet): Observed["orphans"] {
  if (set.metadata.deletionTimestamp) return [];
  return machines
    .byIndex(by.cluster, clusterIndex(set))
    .filter(
      (machine) =>
        !controllerOf(machine) &&
        !machine.metadata.deletionTimestamp &&
        matches(set.spec.selector, machine.metadata.labels),
    );
}

/** A template as a planner sees it, and which names its clones may not have. */
export function observedTemplate(context: Context, namespace: string, reference: ContractReference): ObservedTemplate {
  const kind = context.kinds.find(cloneKind(reference));
  return {
    ...lookUp(context, namespace, reference),
    cloneKind: kind,
    clones: namesIn(kind && context.informers.for(kind), namespace),
  };
}
