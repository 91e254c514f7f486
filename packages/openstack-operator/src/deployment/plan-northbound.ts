import type { OpenStackDeploymentStatus } from "@causeway/api";
import { timestamp, type PlannedEvent, type Pod, type WantedCondition } from "@causeway/kubernetes";
import { NORTHBOUND } from "../catalogue/index.ts";
import { labels } from "../model/names.ts";
import { PREPARATION } from "../render/first-containers.ts";
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
  /** A loss that is new. */
  readonly events: readonly PlannedEvent[];
}

/**
 * Members say at their start which database they are of. Another one than that to which Neutron's networks were written
 * was made because the one before is gone: it is rebuilt from Neutron. As long as one member has the known one, it is
 * not lost. Pure.
 */
export function northboundOf({ deployment, pods }: Pick<Observed, "deployment" | "pods">): Northbound {
  const before = deployment.status?.northbound;
  const seen = databasesOf(pods);
  const first = seen[0];
  if (before === undefined || isRestoring(deployment))
    return { status: first === undefined ? before : { database: first }, rendered: undefined, events: [] };
  const current = before.rebuilding ?? before.database;
  if (first === undefined || seen.includes(current)) return { status: before, rendered: rendered(before), events: [] };
  const status = { ...before, rebuilding: first };
  const message = `${lost(status)}: it is rebuilt from Neutron's`;
  return { status, rendered: rendered(status), events: [{ type: "Warning", reason: "NorthboundLost", message }] };
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
function databasesOf(pods: readonly Pod[]): string[] {
  const said = pods.flatMap(({ metadata, status }) => {
    if (metadata.labels?.[labels.component] !== NORTHBOUND || metadata.deletionTimestamp !== undefined) return [];
    const { state } = status?.initContainerStatuses?.find(({ name }) => name === PREPARATION) ?? {};
    const ended = state?.terminated as { readonly exitCode?: number; readonly message?: string } | undefined;
    const identity = ended?.message ?? "";
    return ended?.exitCode === 0 && /^[0-9a-f-]{36}$/.test(identity) ? [identity] : [];
  });
  return [...new Set(said)].toSorted();
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

/** A condition, where a database was lost. */
export function northboundConditions(northbound: NorthboundStatus | undefined): WantedCondition[] {
  if (northbound?.rebuilding !== undefined)
    return [{ type: "NetworkRebuilt", status: "False", reason: "DatabaseLost", message: lost(northbound) }];
  if (northbound?.rebuiltAt === undefined) return [];
  const message = `at ${northbound.rebuiltAt}, into ${northbound.database}`;
  return [{ type: "NetworkRebuilt", status: "True", reason: "Rebuilt", message }];
}
