import type { HostedControlPlane } from "@causeway/api";
import { isFull, type Point } from "@causeway/hosted-control-plane";
import { fromOfFolder } from "../../backups/folder.ts";

/** One line of a list of backups. Every row of a list has the same fields, in the order of their columns. */
export type BackupRow = Readonly<Record<string, string | number | undefined>>;

/** What control planes say of their backups; those without backups are left out. */
export function backupsOfObjects(objects: readonly HostedControlPlane[]): BackupRow[] {
  return objects.flatMap(({ metadata, spec, status }) => {
    const { folder, points = 0, oldest, newest, newestFull } = status?.backup ?? {};
    if (spec.backup === undefined && folder === undefined) return [];
    const condition = status?.conditions?.find(({ type }) => type === "BackedUp");
    return [
      {
        namespace: metadata.namespace,
        name: metadata.name,
        from: folder === undefined ? undefined : fromOfFolder(folder),
        oldest,
        newest,
        newestFull,
        backups: points,
        state: condition?.status === "True" ? "BackedUp" : (condition?.reason ?? "Unknown"),
      },
    ];
  });
}

/** The control planes that have backups in a store, deleted ones included. */
export function backupsOfStore(folders: ReadonlyMap<string, readonly Point[]>): BackupRow[] {
  return [...folders].map(([folder, points]) => {
    const times = points.map(({ time }) => time).toSorted((a, b) => a - b);
    return { ...placeOf(folder), oldest: instant(times[0]), newest: instant(times.at(-1)), backups: points.length };
  });
}

/** Every backup, the oldest first. */
export function storedPoints(folders: ReadonlyMap<string, readonly Point[]>): BackupRow[] {
  return [...folders].flatMap(([folder, points]) =>
    points
      .toSorted((a, b) => a.time - b.time)
      .map((point) => ({
        ...placeOf(folder),
        time: instant(point.time),
        has: isFull(point) ? "all data" : "changes",
        id: point.id,
      })),
  );
}

function placeOf(folder: string) {
  const [namespace, name] = folder.split("/");
  return { namespace, name, from: fromOfFolder(folder) };
}

/** The precision that a restore to this time needs. */
const instant = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();
