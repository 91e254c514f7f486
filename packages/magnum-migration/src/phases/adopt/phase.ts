import {
  AddonSet,
  annotations as names,
  Cluster,
  Machine,
  MagnumCluster,
  OpenStackMachine,
  type Manifest,
} from "@causeway/api";
import { getCondition, isAlreadyExists, type Condition } from "@causeway/kubernetes";
import type { MigrationRecord } from "../../record/record.ts";
import { definePhase, type Tools } from "../../phase.ts";
import { cloudWriters, type OwnControllers } from "../../workloads/driver.ts";
import { findWorkloads, stopWorkload } from "../../workloads/workloads.ts";
import { adoptedLabel, adoptedManifests, poolManifests } from "./objects.ts";
import { apply, isApplied, readGroupImages, withGivenImage, writeRow } from "./pools.ts";
import { withNodeImage } from "./row.ts";
import { predictAdopt } from "./predict.ts";
import { planAdopt, type AdoptedMachine, type AdoptFacts, type AdoptStep } from "./plan.ts";

interface Wanted {
  readonly manifest: Manifest;
  /** Owned by the Magnum API from here on. */
  readonly isMagnums: boolean;
}

/** Phase 5: the objects of Cluster API that the workers become, without a change of any server. */
export const adopt = definePhase<AdoptFacts, AdoptStep>({
  name: "adopt",
  prepare: withGivenImage,
  async gather(tools, record, signal) {
    const row = await readRow(tools, record, signal);
    const wanted = wantedObjects(tools, record, row);
    const writers = await findWorkloads(tools.source, cloudWriters(ownControllersOf(wanted)), signal);
    const there = await Promise.all(wanted.map((one) => isThere(tools, one, signal)));
    const machines = await adoptedMachines(tools, record, signal);
    const all = await tools.cloud.compute.servers.all({}, { signal });
    const ids = new Set(record.inventory.groups.flatMap((group) => group.machines.map(({ serverId }) => serverId)));
    const hasImage = withNodeImage(row, record) === row;
    // Once all is written they are not read again and again while Nodes are waited for.
    const images = hasImage && there.every(Boolean) ? [] : await readGroupImages(tools, record, signal);
    return {
      writers,
      images,
      hasImage,
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
  predict: predictAdopt,
  async perform(tools, record, step, signal) {
    if (step.type === "stop-workload") return stopWorkload(tools.source, step.workload, signal);
    const row = await readRow(tools, record, signal);
    if (step.type === "set-image") return writeRow(tools, withNodeImage(row, record), signal);
    const one = wantedObjects(tools, record, row)[step.index];
    if (!one) return;
    const { type, object } = one.manifest;
    if (one.isMagnums) return apply(tools, one.manifest, signal);
    try {
      await tools.management.create(type, object, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  },
});

const readRow = ({ management }: Tools, { namespace, name }: MigrationRecord, signal: AbortSignal) =>
  management.get(MagnumCluster, { namespace, name }, { signal });

function wantedObjects({ keystone }: Tools, record: MigrationRecord, row: MagnumCluster): readonly Wanted[] {
  const { inventory } = record;
  // Add-ons are of the nodes that roll makes.
  const all = poolManifests(withNodeImage(row, record), keystone);
  const pools = all.filter(({ object }) => object.kind !== AddonSet.kind);
  const groups = inventory.groups.flatMap((group) => adoptedManifests(record, group));
  // The Cluster comes last of the Magnum API's, and Machines only when there is a cluster to belong to.
  return [
    ...pools.map((manifest) => ({ manifest, isMagnums: true })),
    ...groups.map((manifest) => ({ manifest, isMagnums: false })),
  ];
}

/** By what the Cluster says of them. */
function ownControllersOf(wanted: readonly Wanted[]): OwnControllers {
  const cluster = wanted.find(({ manifest }) => manifest.object.kind === Cluster.kind);
  const { [names.volumes]: volumes, [names.ingress]: ingress } = cluster?.manifest.object.metadata.annotations ?? {};
  return { volumes: volumes !== "none", ingresses: ingress === "octavia" };
}

/** Of the Magnum API's own: as the API itself would have applied it. */
async function isThere(tools: Tools, { manifest, isMagnums }: Wanted, signal: AbortSignal): Promise<boolean> {
  if (isMagnums) return isApplied(tools, manifest, signal);
  const { namespace = "", name } = manifest.object.metadata;
  return (await tools.management.find(manifest.type, { namespace, name }, { signal })) !== undefined;
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
