import {
  DaemonSet,
  Deployment,
  Pod,
  selectorText,
  StatefulSet,
  type KubernetesClient,
  type KubeObject,
  type ResourceType,
  type SelectorLike,
} from "@causeway/kubernetes";

/** A workload of the driver's, in namespace kube-system. */
export interface Workload {
  readonly kind: "Deployment" | "StatefulSet" | "DaemonSet";
  readonly name: string;
}

/** One that the cluster has. */
export interface FoundWorkload extends Workload {
  /** "stopping": it is to have no pod, and has some. */
  readonly state: "running" | "stopping" | "stopped";
  /** The migration stopped it: a rollback starts it again. */
  readonly isOurs: boolean;
}

/** Keeps how many replicas a workload had, for a rollback. */
const REPLICAS = "migration.causeway.dev/replicas";
/** A label that no Node has: with it among those that its nodes need, a DaemonSet has no pod. */
const STOPPED = "migration.causeway.dev/stopped";
const namespace = "kube-system";

const types = { Deployment, StatefulSet, DaemonSet } as unknown as Readonly<
  Record<Workload["kind"], ResourceType<KubeObject & Fields>>
>;

/** What is read of all three kinds. */
interface Fields {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: SelectorLike;
    readonly template: { readonly spec?: { readonly nodeSelector?: Readonly<Record<string, string>> } };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly desiredNumberScheduled?: number;
    readonly currentNumberScheduled?: number;
    readonly numberMisscheduled?: number;
  };
}

/** "DaemonSet kube-system/openstack-cloud-controller-manager". */
export const workloadText = ({ kind, name }: Workload): string => `${kind} ${namespace}/${name}`;

/** Those of the workloads that the cluster has. */
export async function findWorkloads(
  client: KubernetesClient,
  workloads: readonly Workload[],
  signal: AbortSignal,
): Promise<readonly FoundWorkload[]> {
  const found = await Promise.all(
    workloads.map(({ kind, name }) => client.find(types[kind], { namespace, name }, { signal })),
  );
  const states = await Promise.all(
    workloads.map(async ({ kind, name }, index): Promise<FoundWorkload[]> => {
      const object = found[index];
      if (object === undefined) return [];
      const { state, isOurs } = stateOf(kind, object);
      const isStopping = state === "stopped" && (await hasPods(client, object, signal));
      return [{ kind, name, isOurs, state: isStopping ? "stopping" : state }];
    }),
  );
  return states.flat();
}

/**
 * Whether a pod of it may run still: a Deployment's numbers leave out those that are being deleted, and one on a node
 * that does not respond remains. A pod that has ended and is not being deleted, such as an evicted one, is kept for its
 * logs.
 */
async function hasPods(client: KubernetesClient, { spec }: Fields, signal: AbortSignal): Promise<boolean> {
  if (spec?.selector === undefined) return false;
  const { items } = await client.list(Pod, { namespace, labelSelector: selectorText(spec.selector), signal });
  return items.some(
    ({ metadata, status }) =>
      metadata.deletionTimestamp !== undefined || !/^(Succeeded|Failed)$/.test(status?.phase ?? ""),
  );
}

/** By what its controller has counted. */
function stateOf(kind: Workload["kind"], object: KubeObject & Fields): Pick<FoundWorkload, "state" | "isOurs"> {
  const { metadata, spec, status } = object;
  const isStopped = kind === "DaemonSet" ? hasStopLabel(object) : spec?.replicas === 0;
  if (!isStopped) return { isOurs: false, state: "running" };
  const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  return {
    isOurs: kind === "DaemonSet" || metadata.annotations?.[REPLICAS] !== undefined,
    state: isSeen && podsOf(status) === 0 ? "stopped" : "stopping",
  };
}

const hasStopLabel = ({ spec }: Fields): boolean => spec?.template.spec?.nodeSelector?.[STOPPED] !== undefined;

/** Those that there are, or are about to be; of one kind, all numbers of the others are missing. */
const podsOf = (status: Fields["status"]): number => {
  const { replicas, desiredNumberScheduled, currentNumberScheduled, numberMisscheduled } = status ?? {};
  return [replicas, desiredNumberScheduled, currentNumberScheduled, numberMisscheduled].reduce<number>(
    (sum, count) => sum + (count ?? 0),
    0,
  );
};

/** Takes all pods from a workload, and keeps what it needs to have them again. One that is not there is stopped. */
export async function stopWorkload(
  client: KubernetesClient,
  { kind, name }: Workload,
  signal: AbortSignal,
): Promise<void> {
  const type = types[kind];
  const found = await client.find(type, { namespace, name }, { signal });
  if (found === undefined || stateOf(kind, found).state !== "running") return;
  const body =
    kind === "DaemonSet"
      ? { spec: { template: { spec: { nodeSelector: { [STOPPED]: "true" } } } } }
      : { metadata: { annotations: { [REPLICAS]: String(found.spec?.replicas ?? 1) } }, spec: { replicas: 0 } };
  await client.patch(type, { namespace, name }, { type: "merge", body }, { signal });
}

/** Undoes `stopWorkload`; what it did not stop remains as it is. */
export async function startWorkload(
  client: KubernetesClient,
  { kind, name }: Workload,
  signal: AbortSignal,
): Promise<void> {
  const type = types[kind];
  const found = await client.find(type, { namespace, name }, { signal });
  if (found === undefined || !stateOf(kind, found).isOurs) return;
  const replicas = replicasOf(found.metadata.annotations?.[REPLICAS]);
  const body =
    kind === "DaemonSet"
      ? { spec: { template: { spec: { nodeSelector: { [STOPPED]: null } } } } }
      : { metadata: { annotations: { [REPLICAS]: null } }, spec: { replicas } };
  await client.patch(type, { namespace, name }, { type: "merge", body }, { signal });
}

/** Users of the cluster can write it: what is not a number of pods is Kubernetes' default. */
const replicasOf = (kept: string | undefined): number => (/^\d{1,5}$/.test(kept ?? "") ? Number(kept) : 1);

/** Deletes a workload with its pods. */
export async function deleteWorkload(
  client: KubernetesClient,
  { kind, name }: Workload,
  signal: AbortSignal,
): Promise<void> {
  await client.delete(types[kind], { namespace, name }, { propagationPolicy: "Background", signal });
}
