import { CausewayError } from "@causeway/foundation";
import { Lease, Node } from "@causeway/kubernetes";
import { deletionSql, readRow } from "../../database/rows.ts";
import type { MigrationRecord } from "../../record/record.ts";
import type { Tools } from "../../phase.ts";
import type { MagnumFacts, RetireStep } from "./plan.ts";

/** In what was checked in this run: since when the trustee is seen to be disabled. */
const DISABLED = "trustee-disabled-at:";

/** What the old Magnum and Keystone have, as far as they may be read. */
export async function readMagnum(tools: Tools, record: MigrationRecord, signal: AbortSignal): Promise<MagnumFacts> {
  const { database, admin } = tools;
  const row = database ? await readRow(database, record.inventory.uuid, signal) : "unknown";
  if (row === undefined || row === "unknown" || row.trusteeId === "")
    return { row, trustee: undefined, silentNodes: [] };
  if (!admin) return { row, trustee: "unknown", silentNodes: [] };
  const user = await admin.identity.users.find(row.trusteeId, { signal });
  if (!user) return { row, trustee: undefined, silentNodes: [] };
  const isEnabled = user.enabled !== false;
  return { row, trustee: { isEnabled }, silentNodes: isEnabled ? [] : await silentNodes(tools, signal) };
}

/**
 * Nodes whose kubelet was not heard since this run saw the trustee disabled: what still used its credentials would have
 * failed by then.
 */
async function silentNodes({ source, clock, checked }: Tools, signal: AbortSignal): Promise<string[]> {
  const seen = [...checked].find((one) => one.startsWith(DISABLED));
  if (seen === undefined) checked.add(`${DISABLED}${clock.now()}`);
  const since = seen === undefined ? clock.now() : Number(seen.slice(DISABLED.length));
  const nodes = await source.list(Node, { signal });
  const leases = await source.list(Lease, { namespace: "kube-node-lease", signal });
  const renewed = new Map(
    leases.items.map(({ metadata, spec }) => [metadata.name, Date.parse(spec?.renewTime ?? "")] as const),
  );
  return nodes.items.map(({ metadata }) => metadata.name).filter((name) => !((renewed.get(name) ?? 0) > since));
}

type MagnumStep = Extract<RetireStep, { type: "disable-trustee" | "delete-trustee" | "delete-row" }>;

/**
 * Removes one thing that the old Magnum has of the cluster; without the client that it needs, it does nothing.
 * @throws MIGRATE_TRUSTEE_KEPT
 */
export async function performMagnum(
  { admin, database, checked, clock }: Tools,
  { inventory }: MigrationRecord,
  step: MagnumStep,
  signal: AbortSignal,
): Promise<void> {
  if (step.type === "delete-row") {
    await database?.run(deletionSql(inventory.uuid, step.row), signal);
    return;
  }
  if (!admin) return;
  try {
    if (step.type === "disable-trustee") {
      await admin.identity.users.update(step.id, { enabled: false }, { signal });
      checked.add(`${DISABLED}${clock.now()}`);
      return;
    }
    if (step.trustId !== "") await admin.identity.trusts.delete(step.trustId, { signal });
    await admin.identity.users.delete(step.id, { signal });
  } catch (error) {
    throw new CausewayError("MIGRATE_TRUSTEE_KEPT", `Keystone refused to change trustee ${step.id} of Magnum`, {
      cause: error,
      hint: "Specify a cloud of an administrator with --admin-cloud; the trustee is in the domain that magnum.conf names.",
    });
  }
}
