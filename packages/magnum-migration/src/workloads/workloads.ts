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

function stateOf(
  kind: Workload["kind"],
  { metadata, spec, status }: KubeObject & Fields,
): Pick<FoundWorkload, "state" | "isOurs"> {
  const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  if (kind === "DaemonSet") {
    const isOurs = spec?.template.spec?.nodeSelector?.[STOPPED] !== undefined;
    const { desiredNumberScheduled = 0, currentNumberScheduled = 0, numberMisscheduled = 0 } = status ?? {};
    const hasPods = desiredNumberScheduled + currentNumberScheduled + numberMisscheduled > 0;
    return { isOurs, state: isOurs ? endOf(isSeen && !hasPods) : "running" };
  }
  const isStopped = spec?.replicas === 0;
  const isOurs = isStopped && metadata.annotations?.[REPLICAS] !== undefined;
  return { isOurs, state: isStopped ? endOf(isSeen && (status?.replicas ?? 0) === 0) : "running" };
}

const endOf = (isGone: boolean): FoundWorkload["state"] => (isGone ? "stopped" : "stopping");

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

/** Undoes `stopWorkload`; what it did not stop stays as it is. */
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
