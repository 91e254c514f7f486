import type { Namespace } from "@causeway/kubernetes";
import type { ControlPlaneProblem, ControlPlaneSpec } from "../../runtime.ts";
import { bytesOf } from "../ceilings.ts";
import type { Observed } from "../observed.ts";
import { isPooled, type PodsSettings } from "../options.ts";
import { budgetOf, sizes } from "../sizes.ts";
import {
  budgetAnnotation,
  datastoreAnnotation,
  idAnnotation,
  ownerAnnotation,
  poolAnnotation,
  poolNamespaceOf,
  retainedAnnotation,
} from "../tenant.ts";
import type { StorageTenant } from "./plan-round.ts";
import { mebibytes } from "./records.ts";

const LARGEST_QUOTA = 8 * 2 ** 30;
const DEFAULT_STORAGE = "8Gi";

/** etcd's quota: its volume has to hold the log and a snapshot, too. */
export function quotaOf({ pool }: Pick<PodsSettings, "pool">): number {
  return Math.min(LARGEST_QUOTA, Math.floor(bytesOf(pool?.storage ?? DEFAULT_STORAGE) * 0.75));
}

/**
 * The sum of all budgets: the rest of the quota is for older revisions, and for what is written before it is noticed.
 */
export function capacityOf(settings: Pick<PodsSettings, "pool">): number {
  return Math.floor(quotaOf(settings) * 0.6);
}

/** What a control plane wants of the shared etcd, and what it was granted. */
export interface ShareWanted {
  readonly id: string;
  readonly wanted: number;
  /** Undefined: it is new. */
  readonly granted?: number | undefined;
}

/**
 * Bytes that are left for one control plane; at least what it was granted. What was granted remains. Of several
 * requests at the same moment those with smaller ids come first, so that each process decides the same.
 */
export function shareFor(id: string, all: readonly ShareWanted[], capacity: number): number {
  let left = capacity - all.reduce((sum, { granted = 0 }) => sum + granted, 0);
  for (const { id: each, wanted, granted = 0 } of all.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    if (each === id) return granted + Math.max(0, left);
    const more = wanted - granted;
    // One that cannot have what it wants takes nothing from the others.
    if (more > 0 && more <= left) left -= more;
  }
  return Math.max(0, left);
}

/**
 * The namespaces of control planes in the shared etcd of a management cluster, with what they were granted. One that
 * was handed over keeps its data there; one that moved to its own etcd, for the time that its old data is kept.
 */
function pooledNamespaces(
  owner: string,
  namespaces: readonly Namespace[],
): { name: string; id: string; granted: number; isGranted: boolean; isOld: boolean }[] {
  const pool = poolNamespaceOf(owner);
  return namespaces.flatMap(({ metadata: { name, annotations = {}, deletionTimestamp } }) => {
    const isOld = annotations[retainedAnnotation] !== undefined;
    if ((annotations[datastoreAnnotation] !== "Pooled" && !isOld) || deletionTimestamp !== undefined) return [];
    const named = annotations[poolAnnotation];
    if (named === undefined ? annotations[ownerAnnotation] !== owner : named !== pool) return [];
    const granted = Number(annotations[budgetAnnotation]);
    // One of an older version has none until its next plan, and nothing is enforced until then.
    const isGranted = Number.isFinite(granted) && granted > 0;
    const bytes = isGranted ? granted : sizes.Small.budget;
    return [{ name, id: annotations[idAnnotation] ?? "", granted: bytes, isGranted, isOld }];
  });
}

/** What of a request says how much of the shared etcd it wants. */
export type ShareRequest = Pick<ControlPlaneSpec, "id" | "pods" | "storageBudget">;

/** What the control planes of all processes have and want of the shared etcd. */
export function sharesWanted({
  owner,
  namespaces,
  requested,
}: {
  readonly owner: string;
  readonly namespaces: readonly Namespace[];
  readonly requested: readonly ShareRequest[];
}): ShareWanted[] {
  const wanted = new Map(requested.filter(isPooled).map((spec) => [spec.id, budgetOf(spec)]));
  const pool = poolNamespaceOf(owner);
  for (const { metadata } of namespaces) {
    const {
      [idAnnotation]: id = "",
      [ownerAnnotation]: whose,
      [poolAnnotation]: named = pool,
    } = metadata.annotations ?? {};
    if (whose === owner && named !== pool) wanted.delete(id);
  }
  const existing = pooledNamespaces(owner, namespaces).map(({ id, granted }): ShareWanted => {
    const share = { id, granted, wanted: wanted.get(id) ?? granted };
    wanted.delete(id);
    return share;
  });
  return [...existing, ...[...wanted].map(([id, bytes]): ShareWanted => ({ id, wanted: bytes }))];
}

/** Those whose data is measured: they have been granted a budget, and their API servers write there. */
export function storageTenants(owner: string, namespaces: readonly Namespace[]): StorageTenant[] {
  return pooledNamespaces(owner, namespaces)
    .filter(({ isGranted, isOld }) => isGranted && !isOld)
    .map(({ name, granted }) => ({ name, budget: granted }));
}

/** The names of all namespaces of control planes that the shared etcd serves. */
export function pooledNames(owner: string, namespaces: readonly Namespace[]): string[] {
  return pooledNamespaces(owner, namespaces).flatMap(({ name, isOld }) => (isOld ? [] : [name]));
}

/** Does the shared etcd have no room for what is requested? No control plane is granted what could stop the others. */
export function shareProblem({ spec, namespace, share }: Observed): ControlPlaneProblem | undefined {
  if (!isPooled(spec)) return undefined;
  const wanted = budgetOf(spec);
  const { annotations = {} } = namespace?.metadata ?? {};
  const isOlder = namespace !== undefined && annotations[budgetAnnotation] === undefined;
  if (wanted <= share || isOlder) return undefined;
  const message = `spec.limits.bytes is ${mebibytes(wanted)}, and the shared etcd has ${mebibytes(share)} for it: request less, choose datastore type Own, or have the operator give it larger volumes`;
  return { code: "PODS_POOL_FULL", message, actor: "operator" };
}
