import { labels, Machine, type MachinePool } from "@causeway/api";
import { ownerReference } from "@causeway/kubernetes";
import type { ProviderObject } from "../contract/provider-object.ts";
import { deleteStep, patchStep, type ObjectStep } from "../objects/steps.ts";
import { lockOf, missing } from "../objects/metadata.ts";
import { inPlaceChanges } from "../objects/template.ts";
import type { Observed, PoolMembers } from "./observed.ts";

/** Machines made at once; the next ones follow. */
const atOnce = 100;

/**
 * Each machine that the infrastructure reports has a Machine of its name, so that it is drained, watched by health
 * checks and can be deleted by itself. A Machine whose host is gone, which it had, goes too.
 */
export function memberSteps({ pool, members, machines, infrastructure }: Observed): ObjectStep[] {
  if (!members) return [];
  const names = new Set(machines.map(({ metadata }) => metadata.name));
  const living = members.hosts.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const lacking = living.filter(({ metadata }) => !names.has(metadata.name)).slice(0, atOnce);
  const hosts = new Set(members.hosts.map(({ metadata }) => metadata.name));
  const isKnown = infrastructure.object !== undefined;
  return [
    ...lacking.map((host): ObjectStep => ({
      type: "create",
      resource: Machine,
      object: machineOf(pool, host, members),
    })),
    ...machines.flatMap((machine): ObjectStep[] => {
      if (machine.metadata.deletionTimestamp !== undefined) return [];
      const wasThere = machine.status?.initialization?.infrastructureProvisioned === true;
      if (isKnown && wasThere && !hosts.has(machine.metadata.name)) return deleteStep(Machine, machine);
      return inPlace(pool, machine);
    }),
  ];
}

/** The label of hosts and Machines that names their pool. */
export function poolLabel({ metadata }: Pick<MachinePool, "metadata">): string {
  return metadata.name;
}

function machineOf(pool: MachinePool, host: ProviderObject, { kind }: PoolMembers): Machine {
  const { template, clusterName } = pool.spec;
  const { dataSecretName } = template.spec.bootstrap;
  const { minReadySeconds, readinessGates, deletion, taints } = template.spec;
  return {
    apiVersion: `${Machine.group}/${Machine.version}`,
    kind: Machine.kind,
    metadata: {
      name: host.metadata.name,
      ...(pool.metadata.namespace === undefined ? {} : { namespace: pool.metadata.namespace }),
      labels: machineLabels(pool),
      ...(template.metadata?.annotations ? { annotations: { ...template.metadata.annotations } } : {}),
      ownerReferences: [ownerReference(pool, { controller: true })],
    },
    spec: {
      clusterName,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      ...(readinessGates ? { readinessGates } : {}),
      ...(deletion ? { deletion } : {}),
      ...(taints ? { taints } : {}),
      // The infrastructure boots its machines with the data of the pool.
      bootstrap: dataSecretName === undefined ? {} : { dataSecretName },
      infrastructureRef: { apiGroup: kind.group, kind: kind.kind, name: host.metadata.name },
    },
  };
}

function machineLabels(pool: MachinePool): Record<string, string> {
  return {
    ...pool.spec.template.metadata?.labels,
    [labels.clusterName]: pool.spec.clusterName,
    [labels.poolName]: poolLabel(pool),
  };
}

/** What of the pool's template needs no other machine. */
function inPlace(pool: MachinePool, machine: Machine): ObjectStep[] {
  const added = missing(machine.metadata.labels, machineLabels(pool));
  const spec = inPlaceChanges(machine.spec, pool.spec.template);
  if (!added && !spec) return [];
  return patchStep(Machine, machine, {
    metadata: { ...lockOf(machine), ...(added ? { labels: added } : {}) },
    ...(spec ? { spec } : {}),
  });
}
