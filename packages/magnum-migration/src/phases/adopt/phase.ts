import { Machine, MagnumCluster, OpenStackMachine, type Manifest } from "@causeway/api";
import { getCondition, isAlreadyExists, type Condition } from "@causeway/kubernetes";
import type { MigrationRecord } from "../../record/record.ts";
import { definePhase, type Tools } from "../../run/phase.ts";
import { adoptedLabel, adoptedManifests, poolManifests } from "./objects.ts";
import { planAdopt, type AdoptedMachine, type AdoptFacts, type AdoptStep } from "./plan.ts";

interface Wanted {
  readonly manifest: Manifest;
  /** Owned by the Magnum API from here on. */
  readonly isMagnums: boolean;
}

/** Phase 5: the objects of Cluster API that the workers become, without a change of any server. */
export const adopt = definePhase<AdoptFacts, AdoptStep>({
  name: "adopt",
  async gather(tools, record, signal) {
    const wanted = await wantedObjects(tools, record, signal);
    const there = await Promise.all(wanted.map((one) => isThere(tools, one, signal)));
    const machines = await adoptedMachines(tools, record, signal);
    const all = await tools.cloud.compute.servers.all({}, { signal });
    const ids = new Set(record.inventory.groups.flatMap((group) => group.machines.map(({ serverId }) => serverId)));
    return {
      wanted: wanted.map(({ manifest: { object } }, index) => ({
        kind: object.kind,
        name: object.metadata.name,
        isThere: there[index] === true,
      })),
      machines,
      servers: all.filter(({ id, status }) => ids.has(id) && status === "ACTIVE").map(({ id }) => id),
    };
  },
  plan: planAdopt,
  async perform(tools, record, step, signal) {
    const one = (await wantedObjects(tools, record, signal))[step.index];
    if (!one) return;
    const { type, object } = one.manifest;
    if (one.isMagnums) {
      await tools.management.apply(type, object, { fieldManager: "causeway-magnum", force: true, signal });
      return;
    }
    try {
      await tools.management.create(type, object, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  },
});

async function wantedObjects(tools: Tools, record: MigrationRecord, signal: AbortSignal): Promise<readonly Wanted[]> {
  const { namespace, name, inventory } = record;
  const cluster = await tools.management.get(MagnumCluster, { namespace, name }, { signal });
  const pools = poolManifests(cluster, { authUrl: tools.authUrl });
  const groups = inventory.groups.flatMap((group) => adoptedManifests(record, group));
  // The Cluster comes last of the Magnum API's, and Machines only when there is a cluster to belong to.
  return [
    ...pools.map((manifest) => ({ manifest, isMagnums: true })),
    ...groups.map((manifest) => ({ manifest, isMagnums: false })),
  ];
}

/** Of the Magnum API's own: as the API itself would have applied it. */
async function isThere(
  { management }: Tools,
  { manifest: { type, object }, isMagnums }: Wanted,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace = "", name } = object.metadata;
  const found = await management.find(type, { namespace, name }, { signal });
  const applied = "magnum.causeway.dev/applied";
  return (
    found !== undefined &&
    (!isMagnums || found.metadata.annotations?.[applied] === object.metadata.annotations?.[applied])
  );
}

async function adoptedMachines(
  { management }: Tools,
  { namespace }: MigrationRecord,
  signal: AbortSignal,
): Promise<AdoptedMachine[]> {
  const { items } = await management.list(Machine, { namespace, labelSelector: adoptedLabel, signal });
  const { items: servers } = await management.list(OpenStackMachine, {
    namespace,
    labelSelector: adoptedLabel,
    signal,
  });
  return items.map(({ metadata, spec, status }) => {
    const server = servers.find((one) => one.metadata.name === metadata.name);
    const problem = getCondition((server?.status?.conditions ?? []) as Condition[], "Ready");
    return {
      name: metadata.name,
      serverId: spec.providerID?.split("/").at(-1) ?? "",
      node: status?.nodeRef?.name,
      isProvisioned: server?.status?.initialization?.provisioned === true,
      problem: problem?.status === "True" ? undefined : problem?.message,
    };
  });
}
