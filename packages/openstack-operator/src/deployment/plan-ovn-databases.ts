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
import { objectName, type KnownDatabases, type OvnSide, type RenderedDatabase } from "../render/context.ts";
import { PREPARATION } from "../render/first-containers.ts";
import { knownDatabasesName } from "../render/known-databases.ts";
import { isRestoring, SYNC } from "../restore/jobs.ts";
import { SOUTHBOUND_SYNC } from "../restore/ovn-databases.ts";
import { isDone, type Judged } from "./components.ts";
import type { Observed } from "./gather.ts";

/** Which database there is, as the status of a deployment has it. */
export type OvnStatus = NonNullable<OpenStackDeploymentStatus["northbound"]>;

/** What there is of one of OVN's databases, and what that asks for. */
export interface OvnDatabase {
  /** For the status; undefined: no member has said anything yet. */
  readonly status: OvnStatus | undefined;
  /** What is rendered for it: undefined while no database was ever lost. */
  readonly rendered: RenderedDatabase | undefined;
  /** Why it is not certain that there is one database; undefined: nothing says otherwise. */
  readonly problem: OvnProblem | undefined;
  /** A loss that is new. */
  readonly events: readonly PlannedEvent[];
}

/** Both of OVN's databases. */
export interface OvnDatabases extends Readonly<Record<OvnSide, OvnDatabase>> {
  /** What members that lose their disks are given; undefined: no northbound database was ever reported. */
  readonly known: KnownDatabases | undefined;
}

/** A reason and a message for the condition. */
export interface OvnProblem {
  readonly reason: "SeveralDatabases" | "LossNotCertain";
  readonly message: string;
}

type Facts = Pick<Observed, "deployment" | "pods" | "objects">;

/** By side: its component, its name in messages, what it is rebuilt from, and the Job after which it is. */
const SIDES = {
  nb: { component: NORTHBOUND, word: "northbound", from: "Neutron's", job: SYNC },
  sb: { component: SOUTHBOUND, word: "southbound", from: "the northbound one", job: SOUTHBOUND_SYNC },
} as const;

/**
 * Members say at their start which database they are of. Another one than the known one was made because the one before
 * is gone: the northbound one is rebuilt from Neutron, the southbound one from that. Pure.
 */
export function ovnDatabasesOf(observed: Facts): OvnDatabases {
  const { northbound, southbound } = observed.deployment.status ?? {};
  const nb = databaseOf(observed, "nb", northbound);
  const earlier = knownBefore(observed);
  const found = databaseOf(observed, "sb", southbound ?? (earlier === undefined ? undefined : { database: earlier }));
  // Before Neutron's networks are back there is nothing that it could be rebuilt from.
  const isHeld = nb.status?.rebuilding !== undefined && found.rendered !== undefined;
  const sb = isHeld ? { ...found, rendered: withoutRebuild(found.status) } : found;
  return { nb, sb, known: knownOf(nb.status, sb.status) };
}

/**
 * A database is not lost as long as one member has it, also one that is being deleted on a node that does not respond,
 * or as long as one has not started since.
 */
function databaseOf(observed: Facts, side: OvnSide, before: OvnStatus | undefined): OvnDatabase {
  const { word, from } = SIDES[side];
  const hasRestore = isRestoring(observed.deployment);
  const seen = databasesOf(observed.pods, SIDES[side].component);
  const first = seen[0];
  const as = (status: OvnStatus | undefined, problem: OvnProblem | undefined) => ({
    status,
    rendered: status && before && !hasRestore ? rendered(status) : undefined,
    problem: severalOf(seen, word) ?? problem,
    events: [],
  });
  if (before === undefined || hasRestore) return as(first === undefined ? before : { database: first }, undefined);
  const current = before.rebuilding ?? before.database;
  if (first === undefined || seen.includes(current)) return as(before, undefined);
  const silent = silentMembers(observed, SIDES[side].component);
  if (silent.length > 0)
    return as(before, {
      reason: "LossNotCertain",
      message:
        `a member of OVN's ${word} database reports ${first}; ${silent.join(", ")} may have ${current}, and has not ` +
        "started since: start it, or, if its disk is lost, delete its PersistentVolumeClaim and pod",
    });
  const status = { ...before, rebuilding: first };
  const message = `${lost(status, word)}: it is rebuilt from ${from}`;
  const reason = side === "nb" ? "NorthboundLost" : "SouthboundLost";
  return { ...as(status, undefined), events: [{ type: "Warning", reason, message }] };
}

function severalOf(seen: readonly string[], word: string): OvnProblem | undefined {
  if (seen.length < 2) return undefined;
  const message =
    `members report more than one ${word} database of OVN: ${seen.join(", ")}. Clients may write to either: ` +
    "delete the PersistentVolumeClaims and pods of the members whose database is to go";
  return { reason: "SeveralDatabases", message };
}

/** Of a deployment whose status has no southbound database yet. */
function knownBefore({ deployment, objects }: Facts): string | undefined {
  const name = knownDatabasesName(deployment.metadata.name);
  return (objects.get(`ConfigMap/${name}`) as ConfigMap | undefined)?.data?.["sb"];
}

function knownOf(nb: OvnStatus | undefined, sb: OvnStatus | undefined): KnownDatabases | undefined {
  if (nb === undefined) return undefined;
  return { nb: nb.rebuilding ?? nb.database, ...(sb === undefined ? {} : { sb: sb.rebuilding ?? sb.database }) };
}

const rendered = ({ database, rebuilding, rebuiltAt }: OvnStatus): RenderedDatabase | undefined =>
  rebuilding !== undefined
    ? { database: rebuilding, isRebuilding: true }
    : rebuiltAt !== undefined
      ? { database, isRebuilding: false }
      : undefined;

function withoutRebuild(status: OvnStatus | undefined): RenderedDatabase | undefined {
  const { rebuilding: _held, ...before } = status ?? { database: "" };
  return rendered(before);
}

const lost = ({ database, rebuilding = "" }: OvnStatus, word: string): string =>
  `OVN's ${word} database ${database} is gone, and ${rebuilding} is in its place`;

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
function silentMembers({ deployment, pods, objects }: Facts, component: string): string[] {
  const name = objectName(deployment.metadata.name, component);
  const { spec } = (objects.get(`StatefulSet/${name}`) as StatefulSet | undefined) ?? {};
  const prepared = new Set(
    pods
      .filter((pod) => pod.metadata.deletionTimestamp === undefined && reportOf(pod) !== undefined)
      .map(({ metadata }) => metadata.name),
  );
  const members = Array.from({ length: spec?.replicas ?? 1 }, (_, number) => `${name}-${number}`);
  return members.filter((member) => !prepared.has(member));
}

/** What the status and the conditions have of a database. */
export interface Rebuilt {
  readonly status: OvnStatus | undefined;
  readonly problem: OvnProblem | undefined;
  readonly events: readonly PlannedEvent[];
}

/** Of both databases, once the Job has ended and all that reads the database has started again. */
export function rebuiltOf(
  databases: OvnDatabases,
  judged: ReadonlyMap<string, Judged>,
  now: number,
): Readonly<Record<OvnSide, Rebuilt>> {
  return { nb: rebuilt(databases, "nb", { judged, now }), sb: rebuilt(databases, "sb", { judged, now }) };
}

function rebuilt(
  databases: OvnDatabases,
  side: OvnSide,
  { judged, now }: { readonly judged: ReadonlyMap<string, Judged>; readonly now: number },
): Rebuilt {
  const { status, problem, events } = databases[side];
  const { component: database, job } = SIDES[side];
  const { rebuilding } = status ?? {};
  if (rebuilding === undefined || !databases[side].rendered?.isRebuilding) return { status, problem, events };
  const reads = ({ name, connections = [] }: Judged["component"]) =>
    name === job || connections.some(({ to }) => to === database);
  const readers = [...judged.values()].filter(({ component }) => reads(component));
  if (!judged.has(job) || !readers.every(isDone)) return { status, problem, events };
  const message =
    side === "nb"
      ? `Neutron's networks are in OVN's northbound database ${rebuilding}`
      : `all nodes read OVN's southbound database ${rebuilding}`;
  const reason = side === "nb" ? "NetworkRebuilt" : "SouthboundRebuilt";
  return {
    status: { database: rebuilding, rebuiltAt: timestamp(now) },
    problem,
    events: [...events, { type: "Normal", reason, message }],
  };
}

/** Conditions: where a database was lost, and where it is not certain that there is one. */
export function ovnConditions(
  databases: Readonly<Record<OvnSide, Pick<Rebuilt, "status" | "problem">>>,
  before: readonly Condition[] | undefined,
): WantedCondition[] {
  return [
    ...rebuiltConditions(databases.nb.status, "nb"),
    ...uniqueConditions(databases.nb.problem, "NorthboundUnique", before),
    ...rebuiltConditions(databases.sb.status, "sb"),
    ...uniqueConditions(databases.sb.problem, "SouthboundUnique", before),
  ];
}

function rebuiltConditions(status: OvnStatus | undefined, side: OvnSide): WantedCondition[] {
  const type = side === "nb" ? "NetworkRebuilt" : "SouthboundRebuilt";
  if (status?.rebuilding !== undefined)
    return [{ type, status: "False", reason: "DatabaseLost", message: lost(status, SIDES[side].word) }];
  if (status?.rebuiltAt === undefined) return [];
  const message = `at ${status.rebuiltAt}, into ${status.database}`;
  return [{ type, status: "True", reason: "Rebuilt", message }];
}

function uniqueConditions(
  problem: OvnProblem | undefined,
  type: string,
  before: readonly Condition[] | undefined,
): WantedCondition[] {
  if (problem) return [{ type, status: "False", ...problem }];
  return getCondition(before, type) ? [{ type, status: "True", reason: "OneDatabase", message: "" }] : [];
}
