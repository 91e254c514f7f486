import type { KubeObject, Namespace, StatefulSet } from "@causeway/kubernetes";
import type { ControlPlaneProblem } from "../runtime.ts";
import type { OtherControlPlanes, Observed } from "./observed.ts";
import { isPooled, type SizeClass } from "./options.ts";
import { membersAnnotation, registeredAnnotation } from "./plan-members.ts";
import { etcdMembers } from "./objects/etcd.ts";
import { budgetOf, sizes } from "./sizes.ts";
import { budgetAnnotation, datastoreAnnotation, grantedAnnotation, idAnnotation } from "./tenant.ts";

const ORDER: readonly SizeClass[] = ["Small", "Medium", "Large"];
const UNITS = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };
const DEFAULT_STORAGE = "8Gi";

/** Bytes of a size as the schema allows it, such as "20Gi". */
export function bytesOf(size: string): number {
  const [, amount = "0", unit = ""] = /^(\d+)(Ki|Mi|Gi|Ti)?$/.exec(size) ?? [];
  return Number(amount) * (unit in UNITS ? UNITS[unit as keyof typeof UNITS] : 1);
}

/** What was allowed when it was last accepted: it remains allowed when the operator lowers a ceiling. */
export function grantOf({ spec }: Pick<Observed, "spec">): string {
  return `${spec.pods?.size ?? "Small"}/${spec.replicas}`;
}

/** Is more requested than the operator allows? What runs already is not removed. */
export function ceilingProblem(observed: Observed): ControlPlaneProblem | undefined {
  return (
    sizeProblem(observed) ??
    budgetProblem(observed) ??
    replicasProblem(observed) ??
    storageProblem(observed) ??
    namespaceProblem(observed)
  );
}

function granted({ namespace }: Observed): { size: number; replicas: number } {
  const [size = "", replicas = "0"] = (namespace?.metadata.annotations?.[grantedAnnotation] ?? "").split("/");
  return { size: ORDER.indexOf(size as SizeClass), replicas: Number(replicas) };
}

function sizeProblem(observed: Observed): ControlPlaneProblem | undefined {
  const { size: ceiling } = observed.settings.ceilings ?? {};
  const wanted = observed.spec.pods?.size ?? "Small";
  if (ceiling === undefined || ORDER.indexOf(wanted) <= Math.max(ORDER.indexOf(ceiling), granted(observed).size))
    return undefined;
  return exceeded(`spec.pods.size is ${wanted}, and the operator allows ${ceiling} at most`);
}

/** In the shared etcd the largest size allows as many bytes as it has by default; what was granted remains. */
function budgetProblem({ spec, settings, namespace }: Observed): ControlPlaneProblem | undefined {
  const { size: ceiling } = settings.ceilings ?? {};
  if (ceiling === undefined || !isPooled(spec)) return undefined;
  const held = Number(namespace?.metadata.annotations?.[budgetAnnotation] ?? 0);
  const { budget: allowed } = sizes[ceiling];
  const wanted = budgetOf(spec);
  if (wanted <= Math.max(allowed, held)) return undefined;
  return exceeded(
    `spec.limits.bytes is ${wanted}, and the operator allows ${allowed} in the shared etcd, as for size ${ceiling}`,
  );
}

function replicasProblem(observed: Observed): ControlPlaneProblem | undefined {
  const { replicas: ceiling } = observed.settings.ceilings ?? {};
  const wanted = observed.spec.replicas;
  if (ceiling === undefined || wanted <= Math.max(ceiling, granted(observed).replicas)) return undefined;
  return exceeded(`spec.replicas is ${wanted}, and the operator allows ${ceiling} at most`);
}

/** Volumes are created once: a ceiling concerns new ones, and a wanted size that differs from theirs is refused. */
function storageProblem({ spec, settings, live }: Observed): ControlPlaneProblem | undefined {
  if (isPooled(spec)) return undefined;
  const { storage: wanted = DEFAULT_STORAGE, storageClassName } = spec.pods?.datastore ?? {};
  if (spec.limits.bytes > bytesOf(wanted))
    return {
      code: "PODS_STORAGE_INVALID",
      message: `spec.limits.bytes is ${spec.limits.bytes}, and volumes of ${wanted} cannot hold it: set spec.pods.datastore.storage to more, or spec.limits.bytes to less`,
      actor: "user",
    };
  const existing = storageOf(live.get("StatefulSet/etcd"));
  if (existing !== undefined)
    return existing.each === bytesOf(wanted)
      ? undefined
      : {
          code: "PODS_STORAGE_INVALID",
          message: `etcd has volumes of ${existing.text}; spec.pods.datastore.storage cannot change them to ${wanted}`,
          actor: "user",
        };
  const { storage: ceiling, storageClasses } = settings.ceilings ?? {};
  if (storageClasses !== undefined && storageClassName !== undefined && !storageClasses.includes(storageClassName))
    return exceeded(
      `spec.pods.datastore.storageClassName is ${storageClassName}, and the operator allows ${storageClasses.join(", ") || "none"}`,
    );
  if (ceiling === undefined || bytesOf(wanted) <= bytesOf(ceiling)) return undefined;
  return exceeded(`spec.pods.datastore.storage is ${wanted}, and the operator allows ${ceiling} at most`);
}

/** A control plane whose namespace exists was counted when it was created; with more members it has more volumes. */
function namespaceProblem({
  spec,
  settings,
  namespace,
  otherControlPlanes,
  live,
}: Observed): ControlPlaneProblem | undefined {
  const { controlPlanes, namespaceStorage } = settings.ceilings ?? {};
  const existing = storageOf(live.get("StatefulSet/etcd"));
  const isMoved = existing === undefined && !isPooled(spec) && isInPool(namespace);
  const isGrown = isMoved || isGrowing(spec, existing);
  if (namespace !== undefined && !isGrown) return undefined;
  const where = `namespace ${managementNamespace(spec.id)}`;
  if (namespace === undefined && controlPlanes !== undefined && otherControlPlanes.controlPlanes >= controlPlanes)
    return exceeded(
      `${where} has ${otherControlPlanes.controlPlanes} control planes, and the operator allows ${controlPlanes}`,
    );
  if (namespaceStorage === undefined || isPooled(spec)) return undefined;
  const { datastore } = spec.pods ?? {};
  const own = etcdMembers(datastore) * bytesOf(datastore?.storage ?? DEFAULT_STORAGE);
  if (otherControlPlanes.storage + own <= bytesOf(namespaceStorage)) return undefined;
  const sum = `${gibibytes(otherControlPlanes.storage)} and ${gibibytes(own)} more`;
  return exceeded(`the volumes of ${where} would be ${sum}, and the operator allows ${namespaceStorage}`);
}

function isInPool(namespace: Namespace | undefined): boolean {
  return namespace?.metadata.annotations?.[datastoreAnnotation] === "Pooled";
}

/** It wants more members than it has, and none was added yet: one that was begun is not stopped in the midst. */
function isGrowing({ pods }: Observed["spec"], existing: ReturnType<typeof storageOf>): boolean {
  return existing !== undefined && !existing.isResized && etcdMembers(pods?.datastore) * existing.each > existing.all;
}

function exceeded(message: string): ControlPlaneProblem {
  return { code: "PODS_CEILING_EXCEEDED", message, actor: "user" };
}

function gibibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 30)}Gi`;
}

/** `default` for the id `default.web`. */
export function managementNamespace(id: string): string {
  return id.slice(0, id.indexOf("."));
}

interface WantedVolumes {
  readonly id: string;
  readonly storage: number;
}

/** Bytes of all volumes that a request has in an etcd of its own. */
export function volumesOf({ spec }: Pick<Observed, "spec">): WantedVolumes {
  const { datastore } = spec.pods ?? {};
  const each = bytesOf(datastore?.storage ?? DEFAULT_STORAGE);
  return { id: spec.id, storage: isPooled(spec) ? 0 : etcdMembers(datastore) * each };
}

/**
 * Those whose namespace exists count with their volumes, or with what they request where volumes were not created yet;
 * of those that have none, the ones with smaller names come first, so that of two requests at the same moment one is
 * refused.
 */
export function neighboursOf(
  id: string,
  from: {
    readonly namespaces: readonly Namespace[];
    readonly requested: readonly WantedVolumes[];
    readonly etcdOf: (namespaceName: string) => KubeObject | undefined;
  },
): OtherControlPlanes {
  const mine = managementNamespace(id);
  const idOfNamespace = ({ metadata }: Namespace) => metadata.annotations?.[idAnnotation] ?? "";
  const existing = from.namespaces.filter((each) => {
    const other = idOfNamespace(each);
    return other.includes(".") && other !== id && managementNamespace(other) === mine;
  });
  const exists = new Set(existing.map(idOfNamespace));
  const earlier = from.requested.filter(
    (each) => managementNamespace(each.id) === mine && each.id < id && !exists.has(each.id),
  );
  const wanted = new Map(from.requested.map((each) => [each.id, each.storage]));
  const bytes = existing.map((each) => {
    const [other, etcd] = [idOfNamespace(each), storageOf(from.etcdOf(each.metadata.name))];
    const requested = wanted.get(other) ?? 0;
    if (etcd === undefined) return requested;
    // Of two that want more members at the same moment, the one with the smaller name comes first.
    return etcd.isResized || other < id ? Math.max(etcd.all, requested) : etcd.all;
  });
  return {
    controlPlanes: existing.length + earlier.length,
    storage: [...bytes, ...earlier.map(({ storage }) => storage)].reduce((sum, each) => sum + each, 0),
  };
}

/** The volumes of a StatefulSet, whether its pods run or not. */
function storageOf(
  object: KubeObject | undefined,
): { each: number; all: number; text: string; isResized: boolean } | undefined {
  const { spec, metadata } = (object ?? {}) as Partial<StatefulSet>;
  const [claim] = (spec?.["volumeClaimTemplates"] ?? []) as {
    spec?: { resources?: { requests?: { storage?: string } } };
  }[];
  const text = claim?.spec?.resources?.requests?.storage;
  if (text === undefined) return undefined;
  const { annotations = {} } = metadata ?? {};
  const members = Number(annotations[membersAnnotation] ?? spec?.replicas ?? 1);
  const registered = Number(annotations[registeredAnnotation] ?? 0);
  const each = bytesOf(text);
  return { each, all: each * Math.max(members, registered), text, isResized: registered > 0 };
}
