import { CausewayError, InputError, systemClock } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import type { Cloud } from "@causeway/openstack";
import { inventoryOf } from "../inventory/inventory.ts";
import type { Inventory } from "../inventory/model.ts";
import { readCluster, type ClusterFacts } from "../inventory/read.ts";
import { ensureNamespace, findRecord, newRecord, writeRecord, type MigrationRecord } from "../record/record.ts";
import { forgetShown, heatReport, showCluster } from "./show.ts";
import { inTurn } from "./turn.ts";

/** With what phase discover reads, and where it records. */
export interface DiscoverWith {
  readonly cloud: Cloud;
  /** Undefined: nothing is recorded. */
  readonly management: KubernetesClient | undefined;
  readonly now: number;
}

/**
 * Reads a cluster, shows it in the Magnum API, and records what it is for the phases to come; a recorded one is read
 * again until freeze is done. One that cannot be migrated is shown, too.
 * @throws MIGRATE_BLOCKED, MIGRATE_ORDER
 */
export async function discoverCluster(
  { cloud, management, now }: DiscoverWith,
  ident: string,
  signal: AbortSignal,
): Promise<Inventory> {
  const facts = await readKnown({ cloud, management }, ident, signal);
  const inventory = inventoryOf(facts);
  if (management === undefined) return inventory;
  requireNotBegun(await findRecord(management, inventory.uuid, signal), inventory);
  const report = heatReport(facts, inventory, new Date(now).toISOString());
  await showCluster(management, { inventory, report }, signal);
  requireUnblocked(inventory);
  const record: MigrationRecord = {
    ...newRecord(inventory),
    phases: { discover: { at: new Date(now).toISOString(), proof: proofOf(inventory) } },
  };
  await ensureNamespace(management, record, signal);
  const turn = { client: management, clock: systemClock, record, report: () => {} };
  await inTurn(
    turn,
    async (term) => {
      requireNotBegun(await findRecord(management, inventory.uuid, term), inventory);
      await writeRecord(management, record, term);
    },
    signal,
  );
  return inventory;
}

/** A cluster that its Magnum does not have any more is not shown any longer. @throws MIGRATE_CLUSTER_UNKNOWN */
async function readKnown(
  { cloud, management }: Pick<DiscoverWith, "cloud" | "management">,
  ident: string,
  signal: AbortSignal,
): Promise<ClusterFacts> {
  try {
    return await readCluster(cloud, ident, signal);
  } catch (error) {
    if (management !== undefined && error instanceof CausewayError && error.code === "MIGRATE_CLUSTER_UNKNOWN")
      await forgetShown(management, ident, signal);
    throw error;
  }
}

/** @throws MIGRATE_ORDER where a phase was begun */
function requireNotBegun(known: MigrationRecord | undefined, { name }: Inventory): void {
  if (known !== undefined && known.begun !== "discover")
    throw new InputError(
      "MIGRATE_ORDER",
      `The migration of cluster ${name} is in phase ${known.begun}: its inventory remains as it is`,
      {
        hint: "See what the cluster is now with --dry-run.",
      },
    );
}

/** @throws MIGRATE_BLOCKED */
function requireUnblocked({ findings }: Inventory): void {
  const blocking = findings.filter(({ blocks }) => blocks);
  if (blocking.length > 0)
    throw new InputError("MIGRATE_BLOCKED", blocking.map(({ code, message }) => `${message} (${code})`).join("\n"), {
      hint: "Clear each, and discover again; --dry-run shows the whole inventory.",
    });
}

const proofOf = ({ masters, groups }: Inventory): string[] => [
  `${masters.length} masters and ${groups.reduce((sum, group) => sum + group.machines.length, 0)} workers in ${groups.length} node groups`,
];
