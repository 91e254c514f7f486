import { CausewayError, type Clock } from "@causeway/foundation";
import {
  ConfigMap,
  isAlreadyExists,
  isConflict,
  isNotFound,
  Namespace,
  Pod,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { openEtcd, type EtcdAdmin } from "../../etcd/etcd-admin.ts";
import { memberStatus } from "../../etcd/maintenance.ts";
import type { Observed } from "../observed.ts";
import type { MigrationStep, Step } from "../steps.ts";
import { datastoreAnnotation, migratingAnnotation } from "../tenant.ts";
import { changedSince, reopen, startCopy, type DatastoreCopy } from "./copy.ts";
import { freeze, thaw } from "./freeze.ts";
import type { MigrationMemory } from "./memory.ts";
import { COMPARE_WITHIN } from "./plan-migration.ts";
import { MIGRATION_NAME, migrationObject, type MigrationRecord } from "./record.ts";

/** What a process keeps of its migrations: it begins again without it. */
export interface Migrations {
  /**
   * By the namespace of the control plane: its copy, or "begins". At most one, since it has all keys in memory: two
   * control planes that begin at the same moment both see no other one that is copied.
   */
  readonly copies: Map<string, DatastoreCopy | "begins">;
  readonly remember: (change: MigrationMemory) => void;
}

interface MigrateWith {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly etcd: EtcdAdmin;
  readonly migrations: Migrations;
  readonly fieldManager: string;
}

type MigrateOn = Pick<Observed, "namespace" | "namespaceName">;
type StepOf<T extends MigrationStep["type"]> = Extract<MigrationStep, { type: T }>;

const stepTypes: readonly string[] = [
  "begin-migration",
  "record-migration",
  "copy-datastore",
  "freeze-datastore",
  "thaw-datastore",
  "end-pods",
  "switch-datastore",
  "remove-shared-data",
] satisfies MigrationStep["type"][];

/** Is it one of `MigrationStep`? */
export const isMigrationStep = (step: Step): step is MigrationStep => stepTypes.includes(step.type);

/**
 * How far the own etcd's revisions are above those of the shared one: all control planes write there until the switch.
 * etcd's documentation has the same number for restores.
 */
const AHEAD = 1_000_000_000;
/** Passes over what changed, and how few changes end them. */
const [PASSES, FEW] = [10, 100];

/** "deferred": another leader recorded something first, or another one is copied, and the next plan sees it. */
export async function performMigration(
  using: MigrateWith,
  step: MigrationStep,
  on: MigrateOn,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const { clock, etcd, migrations } = using;
  const { namespaceName: name } = on;
  switch (step.type) {
    case "begin-migration": {
      const call = await openEtcd(step.access, { clock, signal });
      const { revision } = await memberStatus(call, step.access.addresses[0] ?? "");
      const record: MigrationRecord = { stage: "Starting", ...step.record, revision: revision + AHEAD };
      return saveRecord(using, { ...step, record }, on, signal);
    }
    case "record-migration":
      return saveRecord(using, step, on, signal);
    case "copy-datastore":
      return copyAll(using, step, name, signal);
    case "freeze-datastore":
      return freezeAndCompare(using, step, name, signal);
    case "thaw-datastore":
      endCopy(migrations, name);
      if (step.reopen !== undefined) await reopen(step.reopen, { clock, signal });
      await thaw({ name, ...step }, { etcd, clock, signal });
      return migrations.remember({ attempt: step.record.attempt, thawed: step.record.stage });
    case "end-pods":
      for (const { metadata } of step.pods) await endPod(using.client, metadata, step.seconds, signal);
      return undefined;
    case "switch-datastore":
      return switchOver(using, step, on, signal);
    case "remove-shared-data":
      await etcd.removeUser(step.access, step.user, signal);
      return migrations.remember({ attempt: step.record.attempt, removed: true });
  }
}

/** In place of the version that was planned from only. */
async function saveRecord(
  { client, fieldManager }: MigrateWith,
  { record, replaces }: Pick<StepOf<"record-migration">, "record" | "replaces">,
  { namespaceName: namespace }: MigrateOn,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const object = migrationObject(namespace, record);
  try {
    if (replaces === undefined) await client.create(ConfigMap, object, { signal, fieldManager });
    else {
      const body = { metadata: { resourceVersion: replaces }, data: object.data };
      const key = { namespace, name: MIGRATION_NAME };
      await client.patch(ConfigMap, key, { type: "merge", body }, { signal, fieldManager });
    }
    return undefined;
  } catch (error) {
    if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return "deferred";
    throw error;
  }
}

async function copyAll(
  { clock, migrations }: MigrateWith,
  { record, from, to }: StepOf<"copy-datastore">,
  name: string,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const { copies } = migrations;
  endCopy(migrations, name);
  if (copies.size > 0) return "deferred";
  copies.set(name, "begins");
  try {
    const copy = await startCopy({ from, to, revision: record.revision, clock }, signal);
    // It was removed, or belongs to another process now.
    if (!copies.has(name)) return copy.close();
    copies.set(name, copy);
    for (let pass = 0; pass < PASSES && (await copy.advance(signal)) > FEW; pass++);
  } catch (error) {
    endCopy(migrations, name);
    throw error;
  }
  migrations.remember({ attempt: record.attempt, copied: true });
}

/** Whatever fails, writes are accepted again at once. */
async function freezeAndCompare(
  using: MigrateWith,
  { record, from, sealed, replaces }: StepOf<"freeze-datastore">,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { client, clock, etcd, migrations } = using;
  const copy = migrations.copies.get(name);
  if (copy === undefined || copy === "begins") throw new Error("nothing was copied by this process");
  const { attempt } = record;
  try {
    // A session that ended is noticed while writes are accepted still.
    await copy.advance(signal);
    await within(COMPARE_WITHIN, { clock, signal }, async (stop) => {
      await freeze({ name, from }, { etcd, clock, signal: stop });
      const now = await client.find(ConfigMap, { namespace: name, name: MIGRATION_NAME }, { signal: stop });
      if (now?.metadata.resourceVersion !== replaces)
        throw new CausewayError("PODS_MIGRATION_FENCED", "another process continues with the migration");
      await copy.advance(stop);
      const compared = await copy.compare(stop);
      await copy.finish(stop);
      endCopy(migrations, name);
      migrations.remember({ attempt, copied: true, compared });
    });
  } catch (error) {
    endCopy(migrations, name);
    // Also where this process is being ended: another one would need a while to notice.
    await thaw({ name, from, sealed }, { etcd, clock, signal: new AbortController().signal });
    throw error;
  }
}

async function within(
  milliseconds: number,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
  work: (stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const [ending, waiting] = [new AbortController(), new AbortController()];
  const late = clock.sleep(milliseconds, AbortSignal.any([signal, waiting.signal])).then(
    () => ending.abort(slow(milliseconds)),
    () => {},
  );
  try {
    await work(AbortSignal.any([signal, ending.signal]));
  } catch (error) {
    throw ending.signal.aborted ? slow(milliseconds) : error;
  } finally {
    waiting.abort();
    await late;
  }
}

function slow(milliseconds: number): CausewayError {
  return new CausewayError(
    "PODS_MIGRATION_SLOW",
    `the last changes were not copied and compared within ${milliseconds / 1000} s`,
    { hint: "The shared etcd serves as before; another attempt begins by itself." },
  );
}

/**
 * Only where nothing was written to the shared etcd since the comparison. The record decides: another leader that went
 * back was faster, or cannot any more. The namespace says the same from then on, should the record be lost.
 */
async function switchOver(
  using: MigrateWith,
  step: StepOf<"switch-datastore">,
  on: MigrateOn,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const { client, clock } = using;
  const { frozenRevision = 0, keys = 0 } = step.record;
  if (await changedSince(step.from, { revision: frozenRevision, keys }, { clock, signal }))
    throw new CausewayError("PODS_MIGRATION_DIFFERS", "the shared etcd changed after both sides were compared", {
      hint: "It serves as before; another attempt begins by itself.",
    });
  if ((await saveRecord(using, step, on, signal)) === "deferred") return "deferred";
  const { uid } = on.namespace?.metadata ?? {};
  const annotations = { [datastoreAnnotation]: "Own", [migratingAnnotation]: null };
  const body = { metadata: { annotations, ...(uid === undefined ? {} : { uid }) } };
  await client.patch(Namespace, { namespace: "", name: on.namespaceName }, { type: "merge", body }, { signal });
  return undefined;
}

async function endPod(
  client: KubernetesClient,
  { namespace = "", name, uid }: Pod["metadata"],
  gracePeriodSeconds: number,
  signal: AbortSignal,
): Promise<void> {
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  try {
    await client.delete(Pod, { namespace, name }, { ...preconditions, gracePeriodSeconds, signal });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

/** The data of a control plane is not copied any more; nothing to end is success. */
export function endCopy({ copies }: Pick<Migrations, "copies">, name: string): void {
  const copy = copies.get(name);
  if (copy !== "begins") copy?.close();
  copies.delete(name);
}
