import {
  DaemonSet,
  Deployment,
  StatefulSet,
  type KubernetesClient,
  type KubeObject,
  type ResourceType,
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
  return workloads.flatMap(({ kind, name }, index) => {
    const object = found[index];
    return object === undefined ? [] : [{ kind, name, ...stateOf(kind, object) }];
  });
}

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
  const replicas = Number(found.metadata.annotations?.[REPLICAS] ?? 1);
  const body =
    kind === "DaemonSet"
      ? { spec: { template: { spec: { nodeSelector: { [STOPPED]: null } } } } }
      : { metadata: { annotations: { [REPLICAS]: null } }, spec: { replicas } };
  await client.patch(type, { namespace, name }, { type: "merge", body }, { signal });
}

/** Deletes a workload with its pods. */
export async function deleteWorkload(
  client: KubernetesClient,
  { kind, name }: Workload,
  signal: AbortSignal,
): Promise<void> {
  await client.delete(types[kind], { namespace, name }, { propagationPolicy: "Background", signal });
}
