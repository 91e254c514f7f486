import { InputError, systemClock } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import type { Cloud } from "@causeway/openstack";
import { inventoryOf } from "../inventory/inventory.ts";
import type { Inventory } from "../inventory/model.ts";
import { readCluster } from "../inventory/read.ts";
import { ensureNamespace, findRecord, newRecord, writeRecord, type MigrationRecord } from "../record/record.ts";
import { inTurn } from "./turn.ts";

export interface DiscoverWith {
  readonly cloud: Cloud;
  /** Undefined: nothing is recorded. */
  readonly management: KubernetesClient | undefined;
  readonly now: number;
}

/**
 * Reads a cluster, and records what it is for the phases to come; a recorded one is read again until freeze is done.
 * @throws MIGRATE_BLOCKED, MIGRATE_ORDER
 */
export async function discoverCluster(
  { cloud, management, now }: DiscoverWith,
  ident: string,
  signal: AbortSignal,
): Promise<Inventory> {
  const inventory = inventoryOf(await readCluster(cloud, ident, signal));
  if (management === undefined) return inventory;
  const record: MigrationRecord = {
    ...newRecord(inventory),
    phases: { discover: { at: new Date(now).toISOString(), proof: proofOf(inventory) } },
  };
  requireFirst(await findRecord(management, inventory.uuid, signal), inventory);
  await ensureNamespace(management, record, signal);
  const turn = { client: management, clock: systemClock, record, report: () => {} };
  await inTurn(
    turn,
    async (term) => {
      requireFirst(await findRecord(management, inventory.uuid, term), inventory);
      await writeRecord(management, record, term);
    },
    signal,
  );
  return inventory;
}

/** @throws MIGRATE_BLOCKED, and MIGRATE_ORDER where a phase was begun */
function requireFirst(known: MigrationRecord | undefined, { name, findings }: Inventory): void {
  if (known !== undefined && known.begun !== "discover")
    throw new InputError(
      "MIGRATE_ORDER",
      `The migration of cluster ${name} is in phase ${known.begun}: its inventory stays as it is`,
      {
        hint: "See what the cluster is now with --dry-run.",
      },
    );
  const blocking = findings.filter(({ blocks }) => blocks);
  if (blocking.length > 0)
    throw new InputError("MIGRATE_BLOCKED", blocking.map(({ code, message }) => `${message} (${code})`).join("\n"), {
      hint: "Clear each, and discover again; --dry-run shows the whole inventory.",
    });
}

const proofOf = ({ masters, groups }: Inventory): string[] => [
  `${masters.length} masters and ${groups.reduce((sum, group) => sum + group.machines.length, 0)} workers in ${groups.length} node groups`,
];
