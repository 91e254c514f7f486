import type { OpenStackDeploymentStatus } from "@causeway/api";
import {
  getCondition,
  timestamp,
  type Condition,
  type ConfigMap,
  type PlannedEvent,
  type Pod,
  type StatefulSet,
  type WantedCondition,
} from "@causeway/kubernetes";
import { NORTHBOUND, SOUTHBOUND } from "../catalogue/index.ts";
import { labels } from "../model/names.ts";
import { objectName, type KnownDatabases } from "../render/context.ts";
import { PREPARATION } from "../render/first-containers.ts";
import { knownDatabasesName } from "../render/known-databases.ts";
import { isRestoring, SYNC } from "../restore/jobs.ts";
import { isDone, type Judged } from "./components.ts";
import type { Observed } from "./gather.ts";

type NorthboundStatus = NonNullable<OpenStackDeploymentStatus["northbound"]>;

/** What there is of OVN's northbound database, and what that asks for. */
export interface Northbound {
  /** For the status; undefined: no member has said anything yet. */
  readonly status: NorthboundStatus | undefined;
  /** What is rendered for it: undefined while no database was ever lost. */
  readonly rendered: { readonly database: string; readonly isRebuilding: boolean } | undefined;
  /** What members that lose their disks are given; undefined: no database was ever reported. */
  readonly known: KnownDatabases | undefined;
  /** Why it is not certain that there is one database; undefined: nothing says otherwise. */
  readonly problem: NorthboundProblem | undefined;
  /** A loss that is new. */
  readonly events: readonly PlannedEvent[];
}

/** A reason and a message for the condition. */
export interface NorthboundProblem {
  readonly reason: "SeveralDatabases" | "LossNotCertain";
  readonly message: string;
}

/**
 * Members say at their start which database they are of. Another one than that to which Neutron's networks were written
 * was made because the one before is gone: it is rebuilt from Neutron. It is not lost as long as one member has it,
 * also one that is being deleted on a node that does not respond, or as long as one has not started since. Pure.
 */
export function northboundOf(observed: Pick<Observed, "deployment" | "pods" | "objects">): Northbound {
  const { deployment, pods } = observed;
  const before = deployment.status?.northbound;
  const seen = databasesOf(pods, NORTHBOUND);
  const first = seen[0];
  const as = (status: NorthboundStatus | undefined, problem: NorthboundProblem | undefined) => ({
    status,
    rendered: status && before && !isRestoring(deployment) ? rendered(status) : undefined,
    known: knownOf(observed, status),
    problem: severalOf(seen) ?? problem,
    events: [],
  });
  if (before === undefined || isRestoring(deployment))
    return as(first === undefined ? before : { database: first }, undefined);
  const current = before.rebuilding ?? before.database;
  if (first === undefined || seen.includes(current)) return as(before, undefined);
  const silent = silentMembers(observed);
  if (silent.length > 0)
    return as(before, {
      reason: "LossNotCertain",
      message:
        `a member of OVN's northbound database reports ${first}; ${silent.join(", ")} may have ${current}, and has not ` +
        "started since: start it, or, if its disk is lost, delete its PersistentVolumeClaim and pod",
    });
  const status = { ...before, rebuilding: first };
  const message = `${lost(status)}: it is rebuilt from Neutron's`;
  return { ...as(status, undefined), events: [{ type: "Warning", reason: "NorthboundLost", message }] };
}

function severalOf(seen: readonly string[]): NorthboundProblem | undefined {
  if (seen.length < 2) return undefined;
  const message =
    `members report more than one northbound database of OVN: ${seen.join(", ")}. Clients may write to either: ` +
    "delete the PersistentVolumeClaims and pods of the members whose database is to go";
  return { reason: "SeveralDatabases", message };
}

/** The southbound one has no status: what was known of it is in the ConfigMap itself. */
function knownOf(
  { deployment, objects, pods }: Pick<Observed, "deployment" | "pods" | "objects">,
  status: NorthboundStatus | undefined,
): KnownDatabases | undefined {
  if (status === undefined) return undefined;
  const found = objects.get(`ConfigMap/${knownDatabasesName(deployment.metadata.name)}`) as ConfigMap | undefined;
  const before = found?.data?.["sb"];
  const seen = databasesOf(pods, SOUTHBOUND);
  const sb = before !== undefined && seen.includes(before) ? before : (seen[0] ?? before);
  return { nb: status.rebuilding ?? status.database, ...(sb === undefined ? {} : { sb }) };
}

const rendered = ({ database, rebuilding, rebuiltAt }: NorthboundStatus): Northbound["rendered"] =>
  rebuilding !== undefined
    ? { database: rebuilding, isRebuilding: true }
    : rebuiltAt !== undefined
      ? { database, isRebuilding: false }
      : undefined;

const lost = ({ database, rebuilding = "" }: NorthboundStatus): string =>
  `OVN's northbound database ${database} is gone, and ${rebuilding} is in its place`;

/** What members said of the database that they are of, each once. */
function databasesOf(pods: readonly Pod[], component: string): string[] {
  const said = pods.flatMap((pod) => {
    if (pod.metadata.labels?.[labels.component] !== component) return [];
    const identity = reportOf(pod) ?? "";
    return /^[0-9a-f-]{36}$/.test(identity) ? [identity] : [];
  });
  return [...new Set(said)].toSorted();
}

/** What a member said when it was prepared: "" of one that began without data. */
function reportOf({ status }: Pod): string | undefined {
  const { state } = status?.initContainerStatuses?.find(({ name }) => name === PREPARATION) ?? {};
  const ended = state?.terminated as { readonly exitCode?: number; readonly message?: string } | undefined;
  return ended?.exitCode === 0 ? (ended.message ?? "") : undefined;
}

/** Members that should be there, and have no pod that was prepared. */
function silentMembers({ deployment, pods, objects }: Pick<Observed, "deployment" | "pods" | "objects">): string[] {
  const name = objectName(deployment.metadata.name, NORTHBOUND);
  const { spec } = (objects.get(`StatefulSet/${name}`) as StatefulSet | undefined) ?? {};
  const prepared = new Set(
    pods
      .filter((pod) => pod.metadata.deletionTimestamp === undefined && reportOf(pod) !== undefined)
      .map(({ metadata }) => metadata.name),
  );
  const members = Array.from({ length: spec?.replicas ?? 1 }, (_, number) => `${name}-${number}`);
  return members.filter((member) => !prepared.has(member));
}

/** The status once the Job has ended and all that reads the database has started again. */
export function rebuiltStatus(
  { status }: Northbound,
  judged: ReadonlyMap<string, Judged>,
  now: number,
): { readonly status: NorthboundStatus | undefined; readonly events: readonly PlannedEvent[] } {
  const { rebuilding } = status ?? {};
  if (rebuilding === undefined) return { status, events: [] };
  const readers = [...judged.values()].filter(({ component }) => component.name === SYNC || reads(component));
  if (!judged.has(SYNC) || !readers.every(isDone)) return { status, events: [] };
  const message = `Neutron's networks are in OVN's northbound database ${rebuilding}`;
  return {
    status: { database: rebuilding, rebuiltAt: timestamp(now) },
    events: [{ type: "Normal", reason: "NetworkRebuilt", message }],
  };
}

const reads = ({ connections = [] }: Judged["component"]): boolean => connections.some(({ to }) => to === NORTHBOUND);

/** Conditions: where a database was lost, and where it is not certain that there is one. */
export function northboundConditions(
  northbound: NorthboundStatus | undefined,
  problem: NorthboundProblem | undefined,
  before: readonly Condition[] | undefined,
): WantedCondition[] {
  return [...rebuiltConditions(northbound), ...uniqueConditions(problem, before)];
}

function rebuiltConditions(northbound: NorthboundStatus | undefined): WantedCondition[] {
  if (northbound?.rebuilding !== undefined)
    return [{ type: "NetworkRebuilt", status: "False", reason: "DatabaseLost", message: lost(northbound) }];
  if (northbound?.rebuiltAt === undefined) return [];
  const message = `at ${northbound.rebuiltAt}, into ${northbound.database}`;
  return [{ type: "NetworkRebuilt", status: "True", reason: "Rebuilt", message }];
}

function uniqueConditions(
  problem: NorthboundProblem | undefined,
  before: readonly Condition[] | undefined,
): WantedCondition[] {
  const type = "NorthboundUnique";
  if (problem) return [{ type, status: "False", ...problem }];
  return getCondition(before, type) ? [{ type, status: "True", reason: "OneDatabase", message: "" }] : [];
}
