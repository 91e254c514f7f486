import type { Schedule } from "../backup-spec.ts";
import { CausewayError } from "@causeway/foundation";

/** A moment that a control plane can be restored to: all data, or what changed since an earlier point. */
export interface Point {
  readonly id: string;
  /** Milliseconds since epoch: no later write is in it. It is read within seconds after the moment that it has. */
  readonly time: number;
  /** The point with all data that it is based on; its own id: it has all data itself. */
  readonly full: string;
}

/** The id of a point whose data is written from now on: nine digits of seconds since epoch, and `random` ones. */
export function pointId(now: number, random: string): string {
  return `${Math.floor(now / 1000)
    .toString(16)
    .padStart(9, "0")}${random}`.slice(0, 16);
}

/** Ids of before were random: they are of no time after this one, but for a few of a thousand. */
const FIRST_ID = Date.UTC(2026, 0, 1);
/** No point takes so many milliseconds. */
const LONGEST_TAKE = 24 * 3600_000;

/**
 * Among names of a folder's data, those that belong to no point and never will: the program that wrote them was killed.
 * `points`: those of a moment after the names were listed.
 */
export function abandonedData(names: readonly string[], points: readonly Point[], now: number): string[] {
  const known = new Set(points.map(({ id }) => id));
  return names.filter((name) => {
    const id = /\/data\/([0-9a-f]{16})\//.exec(name)?.[1];
    if (id === undefined || known.has(id)) return false;
    const begun = Number.parseInt(id.slice(0, 9), 16) * 1000;
    return begun >= FIRST_ID && begun < now - LONGEST_TAKE;
  });
}

/** "FOLDER/points/2026-01-02T03:04:05.678Z_ID_FULL" */
export function pointName(folder: string, { id, time, full }: Point): string {
  return `${folder}/points/${new Date(time).toISOString()}_${id}_${full}`;
}

/** Undefined: the name is none of a point. */
export function parsePoint(name: string): Point | undefined {
  const [, instant = "", id = "", full = ""] =
    /\/points\/(\d{4}-[\d:.TZ-]+)_([0-9a-f]{16})_([0-9a-f]{16})$/.exec(name) ?? [];
  const time = Date.parse(instant);
  return Number.isNaN(time) ? undefined : { id, time, full };
}

/** The points among names of a store, by their folders: "NAMESPACE/NAME/UID". */
export function pointsByFolder(names: readonly string[]): ReadonlyMap<string, readonly Point[]> {
  const found = new Map<string, Point[]>();
  for (const name of names) {
    const point = parsePoint(name);
    const folder = name.split("/").slice(0, -2).join("/");
    if (point === undefined || folder.split("/").length !== 3) continue;
    const points = found.get(folder) ?? [];
    points.push(point);
    found.set(folder, points);
  }
  return found;
}

/** The point has all data itself. */
export function isFull({ id, full }: Point): boolean {
  return id === full;
}

/** What is to be copied now, or when it is (ms since epoch). */
export function nextPoint(
  points: readonly Point[],
  schedule: Schedule,
  now: number,
): { readonly take: "full" | "changes" } | { readonly at: number } {
  const lastFull = Math.max(...points.filter(isFull).map(({ time }) => time), -Infinity);
  const last = Math.max(...points.map(({ time }) => time), -Infinity);
  const { requestedAt = -Infinity } = schedule;
  // A time that is still to come would take one point after the other until then.
  const isRequested = lastFull < requestedAt && requestedAt <= now;
  const fullAt = lastFull + schedule.fullEvery;
  if (isRequested || fullAt <= now) return { take: "full" };
  const changesAt = last + schedule.changesEvery;
  if (changesAt <= now) return { take: "changes" };
  return { at: Math.min(fullAt, changesAt, ...(requestedAt > now ? [requestedAt] : [])) };
}

/**
 * Points that are not needed to restore to any time within `keep`. Those of one full point go together, when a later
 * full point is old enough to restore to the oldest time that is kept.
 */
export function expiredPoints(points: readonly Point[], { keep }: Pick<Schedule, "keep">, now: number): Point[] {
  const oldEnough = points.filter((point) => isFull(point) && point.time <= now - keep);
  const newest = Math.max(...oldEnough.map(({ time }) => time), -Infinity);
  const fullTimes = new Map(points.filter(isFull).map(({ id, time }) => [id, time]));
  return points.filter(({ full, time }) => (fullTimes.get(full) ?? time) < newest && time <= now - keep);
}

/**
 * The newest point at or before a time.
 * @throws BACKUP_POINT_MISSING
 */
export function pointAt(points: readonly Point[], folder: string, at: number | undefined): Point {
  const fulls = new Set(points.filter(isFull).map(({ id }) => id));
  const usable = points.filter(({ full, time }) => fulls.has(full) && (at === undefined || time <= at));
  const found = usable.toSorted((a, b) => b.time - a.time)[0];
  if (found !== undefined) return found;
  const first = points.map(({ time }) => time).toSorted((a, b) => a - b)[0];
  const when = at === undefined ? "" : ` from ${new Date(at).toISOString()} or before`;
  throw new CausewayError("BACKUP_POINT_MISSING", `${folder} has no backup${when}`, {
    hint:
      first === undefined
        ? "Check spec.restore.from: status.backup.folder of the control plane that was backed up has it."
        : `The oldest is from ${new Date(first).toISOString()}: restore to it or later.`,
  });
}
