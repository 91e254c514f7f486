import { annotations, labels, Machine, type MachineSet } from "@causeway/api";
import type { Kind } from "@causeway/api";
import { ownerReference, type KubeObject } from "@causeway/kubernetes";
import { cloneKind } from "../contract/clone-kind.ts";
import { templateOf, type ProviderObject } from "../contract/provider-object.ts";
import { nameFromTemplate, suffixedName, suffixOf, type NamesInUse } from "../objects/names.ts";

/**
 * The names of the next machines: each slot of a set has one name, for ever, and the lowest that were not given come
 * first. So a create that is repeated, after a crash or concurrently, finds the same names, and no machine is created
 * twice. `taken`: names of all Machines in the namespace.
 */
export function nextNames(set: MachineSet, taken: NamesInUse, count: number): string[] {
  const names: string[] = [];
  for (let slot = recordedNames(set); names.length < count; slot++) {
    const name = slotName(set, slot);
    if (!taken.has(name) && !names.includes(name)) names.push(name);
  }
  return names;
}

/**
 * How many names the set has given, as far as it is known: up to the first slot whose machine was never seen, which may
 * be one that another attempt creates at this moment.
 */
export function namesGiven(set: MachineSet, taken: NamesInUse): number {
  let slot = recordedNames(set);
  while (taken.has(slotName(set, slot))) slot++;
  return slot;
}

/** The names before this one were given to machines that may be gone. */
export function recordedNames({ metadata }: MachineSet): number {
  const recorded = Number(metadata.annotations?.[annotations.machineNamesGiven] ?? 0);
  return Number.isSafeInteger(recorded) && recorded > 0 ? recorded : 0;
}

function slotName(set: MachineSet, slot: number): string {
  const suffix = suffixOf(`${set.metadata.uid ?? set.metadata.name}/${slot}`);
  const template = set.spec.machineNaming?.template;
  if (!template) return suffixedName(set.metadata.name, suffix);
  const values = { "cluster.name": set.spec.clusterName, "machineSet.name": set.metadata.name };
  return nameFromTemplate(template, values, suffix);
}

/** The Machine of one slot. Its provider objects have its name, are created after it, and are owned by it. */
export function newMachine(set: MachineSet, name: string): Machine {
  const { template, clusterName } = set.spec;
  const configRef = template.spec.bootstrap.configRef;
  const { namespace } = set.metadata;
  return {
    apiVersion: `${Machine.group}/${Machine.version}`,
    kind: Machine.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: machineLabels(set),
      ...(template.metadata?.annotations ? { annotations: { ...template.metadata.annotations } } : {}),
      ownerReferences: [ownerReference(set, { controller: true })],
    },
    spec: {
      ...template.spec,
      clusterName,
      bootstrap: configRef ? { configRef: { ...cloneKind(configRef), name } } : { ...template.spec.bootstrap },
      infrastructureRef: { ...cloneKind(template.spec.infrastructureRef), name },
    },
  };
}

/** Of Machines of the set, and of what is made for them. */
export function machineLabels(set: MachineSet): Record<string, string> {
  const deployment = set.metadata.labels?.[labels.deploymentName];
  return {
    ...set.spec.template.metadata?.labels,
    [labels.clusterName]: set.spec.clusterName,
    [labels.setName]: set.metadata.name,
    ...(deployment ? { [labels.deploymentName]: deployment } : {}),
  };
}

/** The object made from a template for a Machine. */
export function cloneOf(
  template: ProviderObject,
  kind: Kind<KubeObject>,
  machine: Machine,
): KubeObject & { spec: unknown } {
  const { labels: own, annotations: notes, spec } = templateOf(template);
  const apiGroup = template.apiVersion.split("/")[0] ?? "";
  const { name, namespace } = machine.metadata;
  return {
    apiVersion: `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...own, ...machine.metadata.labels },
      annotations: {
        ...notes,
        ...machine.metadata.annotations,
        [annotations.clonedFromName]: template.metadata.name,
        [annotations.clonedFromGroupKind]: `${template.kind}.${apiGroup}`,
      },
      ownerReferences: [ownerReference(machine, { controller: true })],
    },
    spec: structuredClone(spec),
  };
}
