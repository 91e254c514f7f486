import type { Cluster } from "@causeway/api";
import { statusVersionOf } from "../contract/provider-object.ts";
import type { LifecycleHook } from "../runtime/hooks.ts";
import type { CurrentState } from "./model.ts";
import { isUpgrading } from "./condition.ts";
import type { Upgrades } from "./upgrades.ts";
import { isSameVersion } from "../objects/versions.ts";

/** Annotation of a Cluster: hooks that are still to be called for what has begun, as upstream's. */
export const pendingHooksAnnotation = "runtime.cluster.x-k8s.io/pending-hooks";
/** Annotation of a Cluster: the handlers of BeforeClusterDelete have let it go. */
export const okToDeleteAnnotation = "runtime.cluster.x-k8s.io/ok-to-delete";

/** What handlers are called for at this moment of a cluster's life. */
export interface DueHook {
  readonly hook: LifecycleHook;
  /** More fields of the request. */
  readonly more: Readonly<Record<string, unknown>>;
}

/** What a topology is held back from. */
export interface Hold {
  readonly controlPlane?: boolean;
  readonly workers?: boolean;
}

/** What hooks hold back in a topology now. */
export interface HookState {
  /** Why something is held back: one line for each hook. */
  readonly blocking: readonly { readonly hook: LifecycleHook; readonly message: string }[];
  /** Hooks that failed: they are called again. */
  readonly failed: readonly { readonly hook: LifecycleHook; readonly message: string }[];
  /** Hooks that are marked as pending, and others that have been called. */
  readonly add: readonly LifecycleHook[];
  readonly remove: readonly LifecycleHook[];
  /** BeforeClusterDelete has passed. */
  readonly okToDelete?: boolean;
  /** When handlers are to be called again. */
  readonly until?: number;
}

/** No hook holds anything back, and none has failed. */
export const noHooks: HookState = { blocking: [], failed: [], add: [], remove: [] };

/** The hooks that a Cluster is marked with. */
export function pendingHooks({ metadata }: Pick<Cluster, "metadata">): ReadonlySet<string> {
  return new Set((metadata.annotations?.[pendingHooksAnnotation] ?? "").split(",").filter((name) => name !== ""));
}

/** Neither infrastructure nor control plane is recorded yet. */
export function isBeingCreated({ spec }: Pick<Cluster, "spec">): boolean {
  return spec.infrastructureRef === undefined && spec.controlPlaneRef === undefined;
}

/** The hook that is due for a cluster which exists, before anything of `upgrades` is done. */
export function dueHooks(cluster: Cluster, current: CurrentState, upgrades: Upgrades): DueHook[] {
  const pending = pendingHooks(cluster);
  const wanted = cluster.spec.topology?.version ?? "";
  const due: DueHook[] = [];
  if (pending.has("AfterControlPlaneInitialized") && cluster.status?.initialization?.controlPlaneInitialized)
    due.push({ hook: "AfterControlPlaneInitialized", more: {} });
  const reached = current.controlPlane && statusVersionOf(current.controlPlane);
  if (upgrades.starts && !pending.has("AfterClusterUpgrade") && !pending.has("AfterControlPlaneUpgrade")) {
    const versions = (list: readonly string[]) => list.map((version) => ({ version }));
    due.push({
      hook: "BeforeClusterUpgrade",
      more: {
        fromKubernetesVersion: reached ?? "",
        toKubernetesVersion: wanted,
        controlPlaneUpgrades: versions(upgrades.path.controlPlane),
        workersUpgrades: versions(upgrades.path.workers),
      },
    });
  }
  const isAt = reached !== undefined && isSameVersion(reached, upgrades.controlPlane);
  const isDone = isAt && !upgrades.controlPlaneMoves && !upgrades.controlPlanePending;
  if (pending.has("AfterControlPlaneUpgrade") && isDone)
    due.push({ hook: "AfterControlPlaneUpgrade", more: { kubernetesVersion: reached } });
  if (pending.has("AfterClusterUpgrade") && !pending.has("AfterControlPlaneUpgrade") && !isUpgrading(upgrades))
    due.push({ hook: "AfterClusterUpgrade", more: { kubernetesVersion: wanted } });
  return due;
}

/** What a hook that has not passed holds back. */
export function holdOf(hook: LifecycleHook): Hold {
  if (hook === "BeforeClusterUpgrade") return { controlPlane: true };
  return hook === "AfterControlPlaneUpgrade" ? { controlPlane: true, workers: true } : {};
}

/** The value of the annotation after marks are added and removed; null: none is left. */
export function markedHooks(cluster: Cluster, { add, remove }: Pick<HookState, "add" | "remove">): string | null {
  const after = new Set(
    [...pendingHooks(cluster), ...add].filter((name) => !(remove as readonly string[]).includes(name)),
  );
  return after.size === 0 ? null : [...after].toSorted().join(",");
}
