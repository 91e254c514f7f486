import type { Deployment, ReplicaSet } from "@causeway/kubernetes";
import { maxSurge, wantedOf } from "./replicas.ts";

const prefix = "deployment.kubernetes.io";
/** What ReplicaSets record, under `deployment.kubernetes.io/`; `kubectl rollout` reads revision and history. */
export const annotation = {
  revision: `${prefix}/revision`,
  history: `${prefix}/revision-history`,
  desired: `${prefix}/desired-replicas`,
  max: `${prefix}/max-replicas`,
};
const LONGEST_HISTORY = 2_000;
/** The highest number of 64 bits, which no revision can follow. */
const HIGHEST = 2n ** 63n - 1n;

/** Annotations of a Deployment that its ReplicaSets do not take over. */
const notCopied = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  ...Object.values(annotation),
  "deprecated.deployment.rollback.to",
]);

type Annotations = Readonly<Record<string, string>>;

/**
 * 0: it has none. Undefined: it is not a number. Other controllers may write numbers of 64 bits, which upstream counts
 * on.
 */
export function revisionOf({ metadata }: ReplicaSet | Deployment): bigint | undefined {
  return parsed(metadata.annotations?.[annotation.revision] ?? "0");
}

function parsed(text: string): bigint | undefined {
  const revision = /^\d{1,19}$/.test(text) ? BigInt(text) : HIGHEST;
  return revision < HIGHEST ? revision : undefined;
}

/** The lowest first. */
export function byRevision(a: ReplicaSet, b: ReplicaSet): number {
  const [one, other] = [revisionOf(a) ?? 0n, revisionOf(b) ?? 0n];
  return one === other ? 0 : one < other ? -1 : 1;
}

/** 0 without ReplicaSets; a revision that is not a number counts as 0. */
export function maxRevision(sets: readonly ReplicaSet[]): bigint {
  return sets.reduce((highest, set) => {
    const revision = revisionOf(set) ?? 0n;
    return revision > highest ? revision : highest;
  }, 0n);
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
  revision: bigint,
): Annotations {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !notCopied.has(name));
  const old = held?.[annotation.revision];
  const before = parsed(old ?? "0");
  if (before === undefined) return Object.fromEntries(copied);
  const isNewer = before < revision;
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
