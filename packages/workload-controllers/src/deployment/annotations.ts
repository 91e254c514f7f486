import type { Deployment, ReplicaSet } from "@causeway/kubernetes";
import { maxSurge, wantedOf } from "./replicas.ts";

const prefix = "deployment.kubernetes.io";
export const annotation = {
  revision: `${prefix}/revision`,
  history: `${prefix}/revision-history`,
  desired: `${prefix}/desired-replicas`,
  max: `${prefix}/max-replicas`,
};
const LONGEST_HISTORY = 2_000;

/** Annotations of a Deployment that its ReplicaSets do not take over. */
const notCopied = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  ...Object.values(annotation),
  "deprecated.deployment.rollback.to",
]);

type Annotations = Readonly<Record<string, string>>;

/** 0: it has none. Undefined: it is not a number. */
export function revisionOf({ metadata }: ReplicaSet | Deployment): number | undefined {
  const text = metadata.annotations?.[annotation.revision] ?? "0";
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export function maxRevision(sets: readonly ReplicaSet[]): number {
  return Math.max(0, ...sets.map((set) => revisionOf(set) ?? 0));
}

/** How large the Deployment was when the ReplicaSet was last scaled. Undefined: unknown. */
export function countFrom({ metadata }: ReplicaSet, name: "desired" | "max"): number | undefined {
  const text = metadata.annotations?.[annotation[name]] ?? "";
  const count = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return count < 2 ** 31 ? count : undefined;
}

/** What a ReplicaSet that is scaled records. */
export function sizeAnnotations(deployment: Deployment): Record<string, string> {
  const wanted = wantedOf(deployment);
  return { [annotation.desired]: String(wanted), [annotation.max]: String(wanted + maxSurge(deployment)) };
}

/** Of `wanted`, what the ReplicaSet does not have yet. */
export function missing(set: ReplicaSet, wanted: Annotations): Record<string, string> {
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => set.metadata.annotations?.[name] !== value),
  );
}

/** What the new ReplicaSet has of its Deployment's annotations, its revision and the revisions that it had before. */
export function newSetAnnotations(
  deployment: Deployment,
  held: Annotations | undefined,
  revision: number,
): Annotations {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !notCopied.has(name));
  const old = held?.[annotation.revision];
  if (old !== undefined && !/^\d{1,15}$/.test(old)) return Object.fromEntries(copied);
  const isNewer = Number(old ?? 0) < revision;
  return {
    ...Object.fromEntries(copied),
    ...(isNewer ? { [annotation.revision]: String(revision) } : {}),
    ...(isNewer && old !== undefined ? history(held?.[annotation.history], old) : {}),
  };
}

function history(before: string | undefined, revision: string): Record<string, string> {
  if (!before) return { [annotation.history]: revision };
  const revisions = [...before.split(","), revision];
  while (revisions.join(",").length > LONGEST_HISTORY) revisions.shift();
  return { [annotation.history]: revisions.join(",") };
}
