import type { Namespace } from "@causeway/kubernetes";
import type { MigrationStage } from "../migration/record.ts";
import { initializedNamespace } from "../plan-objects.ts";
import {
  awaitedAnnotation,
  datastoreAnnotation,
  handedOverAnnotation,
  handOverAnnotation,
  ownerAnnotation,
  poolAnnotation,
  poolNamespaceOf,
  releasedAnnotation,
} from "../tenant.ts";
import { acknowledged, handOverOf, isOwnedBy, type Acknowledgement, type HandOver } from "./request.ts";

/** One control plane that goes from one management cluster to another, and what the service cluster has of it. */
export interface TransferObserved {
  readonly id: string;
  /** Owners: as `PodsSettings.owner`. */
  readonly from: string;
  readonly to: string;
  readonly management: ManagementClusters;
  /** Namespaces of control planes with this id, of whichever management cluster. */
  readonly namespaces: readonly Namespace[];
  /** Where its data is on the way to an etcd of its own. Undefined: it is not. */
  readonly migration?: MigrationStage | undefined;
}

/** The two sides of the move, by the uids of their namespaces kube-system: an owner is only a name. */
export interface ManagementClusters {
  readonly from: string;
  readonly to: string;
}

/** Why it cannot be handed over. */
export interface TransferRefusal {
  readonly type: "refuse";
  readonly code:
    | "MOVE_CONTROL_PLANE_MISSING"
    | "MOVE_CONTROL_PLANE_STARTING"
    | "MOVE_DATA_MIGRATING"
    | "MOVE_OBJECT_DELETED"
    | "MOVE_OWNER_FOREIGN"
    | "MOVE_OWNER_SAME"
    | "MOVE_SETTINGS_DIFFER"
    | "MOVE_TARGET_OCCUPIED"
    | "MOVE_UNDER_WAY";
  readonly message: string;
  readonly hint: string;
  /** Its manager continues with it: the request is removed. */
  readonly withdraw?: Namespace;
}

/** What is done next. */
export type TransferStep =
  | TransferRefusal
  | { readonly type: "request"; readonly namespace: Namespace }
  /** For managers that have not seen the request: the present one, the next one. */
  | { readonly type: "wait"; readonly released: boolean; readonly awaited: boolean }
  /** One write that makes it the other's, and defeats itself if anything changed. */
  | { readonly type: "switch"; readonly namespace: Namespace; readonly annotations: Annotations }
  | { readonly type: "done" };

type Annotations = Readonly<Record<string, string | null>>;

/** The request, and what managers wrote for it. */
export const withoutRequest: Annotations = {
  [handOverAnnotation]: null,
  [releasedAnnotation]: null,
  [awaitedAnnotation]: null,
};

/**
 * The rules of a hand-over. Its manager holds still and says so; the next one says that it works on the same service
 * cluster with the same settings. Then one write changes whose it is: from then on the first manager, also one that
 * starts again, refuses it, and the second one finds everything as it would have made it.
 */
export function planTransfer({ id, from, to, management, namespaces, migration }: TransferObserved): TransferStep {
  if (from === to)
    return {
      type: "refuse",
      code: "MOVE_OWNER_SAME",
      message: `both management clusters are ${from} to the service cluster, and would run the same pods`,
      hint: "Start the manager of the target with another --owner, and specify it with --to-owner.",
    };
  const [ours, theirs] = [from, to].map((owner) => namespaces.filter((each) => isOwnedBy(each, owner, id)));
  const [namespace, ...more] = ours ?? [];
  if (namespace === undefined) return planLeft({ id, from, to, management }, theirs ?? []);
  if (more.length > 0 || (theirs ?? []).length > 0) return occupied(id, [namespace, ...more, ...(theirs ?? [])]);
  const { name, deletionTimestamp } = namespace.metadata;
  if (deletionTimestamp !== undefined)
    return {
      type: "refuse",
      code: "MOVE_OBJECT_DELETED",
      message: `Namespace ${name} of the service cluster, with the pods of ${id}, is being deleted`,
      hint: "Wait until it is gone, then move.",
    };
  if (!initializedNamespace(namespace))
    return {
      type: "refuse",
      code: "MOVE_CONTROL_PLANE_STARTING",
      message: `control plane ${id} is still being created`,
      hint: "Wait until it is available, then move.",
    };
  const handOver = handOverOf(namespace);
  // The shared etcd has data of it until then, which only its own manager removes.
  if (migration !== undefined && migration !== "Done" && migration !== "Withdrawn")
    return {
      type: "refuse",
      code: "MOVE_DATA_MIGRATING",
      message: `the data of control plane ${id} is moving to an etcd of its own (stage ${migration})`,
      hint: "Wait until status.migration.stage is Done or Withdrawn, then move.",
      ...(handOver?.to === to ? { withdraw: namespace } : {}),
    };
  if (handOver === undefined) return { type: "request", namespace };
  if (handOver.to !== to) return underWay(id, name, handOver);
  return planSwitch({ id, from, to, management }, namespace, handOver);
}

/** The source has it no longer: that the target has one is not enough. */
function planLeft(
  { id, from, to, management }: Omit<TransferObserved, "namespaces">,
  [there, ...others]: readonly Namespace[],
): TransferStep {
  if (there === undefined || others.length > 0) return missing(id, [from, to]);
  const isOurs = there.metadata.annotations?.[handedOverAnnotation] === handedOver(management);
  return isOurs ? { type: "done" } : notHandedOver(id, { from, to });
}

function planSwitch(
  { id, from, to, management }: Omit<TransferObserved, "namespaces">,
  namespace: Namespace,
  handOver: HandOver,
): TransferStep {
  const released = acknowledged(namespace, "released", handOver);
  const awaited = acknowledged(namespace, "awaited", handOver);
  if (released === undefined || awaited === undefined)
    return { type: "wait", released: released !== undefined, awaited: awaited !== undefined };
  const foreign = [
    ...(released.management === management.from ? [] : [`--owner ${from} is not that of the source`]),
    ...(awaited.management === management.to ? [] : [`--owner ${to} is not that of the target`]),
  ];
  if (foreign.length > 0)
    return {
      type: "refuse",
      code: "MOVE_OWNER_FOREIGN",
      message: `control plane ${id} is not handed over: ${foreign.join(", and ")}`,
      hint: "Specify what the managers of the two management clusters have as --owner, with --from-owner and --to-owner, and run the same version of both.",
      withdraw: namespace,
    };
  const different = differences(released, awaited);
  if (different.length > 0)
    return {
      type: "refuse",
      code: "MOVE_SETTINGS_DIFFER",
      message: `the managers of the two management clusters run with different settings, and pods of ${id} would be replaced: ${different.join(", ")}`,
      hint: "Start both managers with the same options for these settings, and repeat the command.",
      withdraw: namespace,
    };
  const { [datastoreAnnotation]: datastore, [poolAnnotation]: pool } = namespace.metadata.annotations ?? {};
  const isShared = datastore === "Pooled" && pool === undefined;
  const place = isShared ? { [poolAnnotation]: poolNamespaceOf(from) } : {};
  const whose = { [ownerAnnotation]: to, [handedOverAnnotation]: handedOver(management) };
  return { type: "switch", namespace, annotations: { ...withoutRequest, ...place, ...whose } };
}

const handedOver = ({ from, to }: ManagementClusters): string => JSON.stringify({ from, to });

function notHandedOver(id: string, { from, to }: { readonly from: string; readonly to: string }): TransferRefusal {
  return {
    type: "refuse",
    code: "MOVE_OWNER_FOREIGN",
    message: `control plane ${id} is that of --owner ${to} in the service cluster, and the source (--owner ${from}) did not hand it over to the target`,
    hint: "Specify what the managers have as --owner: that of the source with --from-owner, that of the target with --to-owner.",
  };
}

function differences({ settings: a }: Acknowledgement, { settings: b }: Acknowledgement): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => a[name] !== b[name]).toSorted();
}

function missing(id: string, owners: readonly string[]): TransferRefusal {
  return {
    type: "refuse",
    code: "MOVE_CONTROL_PLANE_MISSING",
    message: `the service cluster has no control plane ${id} of management cluster ${owners.join(" or ")}`,
    hint: "Specify the cluster that runs the pods with --service-kubeconfig, and, where managers run with --owner, their values with --from-owner and --to-owner.",
  };
}

function occupied(id: string, all: readonly Namespace[]): TransferRefusal {
  return {
    type: "refuse",
    code: "MOVE_TARGET_OCCUPIED",
    message: `the service cluster has several control planes ${id} of the two management clusters: Namespaces ${all.map(({ metadata }) => metadata.name).join(", ")}`,
    hint: "Delete the one that is not to be moved, wait until its Namespace is gone, and repeat the command.",
  };
}

function underWay(id: string, name: string, { to }: HandOver): TransferRefusal {
  return {
    type: "refuse",
    code: "MOVE_UNDER_WAY",
    message: `control plane ${id} is being handed over to management cluster ${to}`,
    hint: `Finish that move first: repeat its command. To give it up, remove the annotation ${handOverAnnotation} from Namespace ${name} of the service cluster.`,
  };
}
