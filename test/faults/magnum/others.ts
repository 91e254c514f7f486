import {
  AddonSet,
  Cluster,
  HostedControlPlane,
  labels,
  Machine,
  MachineDeployment,
  OpenStackCluster,
  type MagnumCluster,
} from "@causeway/api";
import { addonsMove } from "./addons.ts";
import { authoritiesMove, isOutdated } from "./authorities.ts";
import {
  isTrue,
  ownerReference,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";

const FINALIZER = "test.causeway.dev/others";
const SINCE = "2026-01-01T00:00:00Z";
const condition = (type: string, status: "True" | "False", reason: string, message = "") => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: SINCE,
});

export interface ExistingObjects {
  readonly clusters: readonly Cluster[];
  readonly controlPlanes: readonly HostedControlPlane[];
  readonly deployments: readonly MachineDeployment[];
  readonly machines: readonly Machine[];
  readonly infrastructures: readonly OpenStackCluster[];
  readonly addonSets: readonly AddonSet[];
}

export type Move = () => Promise<unknown>;

const isDeleted = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;
const isReady = ({ status }: Machine): boolean => isTrue(status?.conditions, "NodeReady");

/** The controllers behind the objects of one cluster, as data: each thing that one of them could do next. */
export class Others {
  readonly #client: KubernetesClient;
  readonly #namespace: string;
  #made = 0;
  #failing = false;
  /** What was requested of the others and would break a cluster. */
  wrong: string | undefined;

  constructor(client: KubernetesClient, cluster: MagnumCluster) {
    this.#client = client;
    this.#namespace = cluster.metadata.namespace ?? "";
  }

  async standing(): Promise<ExistingObjects> {
    const all = async <T extends KubeObject>(type: ResourceType<T>): Promise<readonly T[]> =>
      (await this.#client.list(type, { namespace: this.#namespace })).items;
    const [clusters, controlPlanes, deployments, machines, infrastructures, addonSets] = await Promise.all([
      all(Cluster),
      all(HostedControlPlane),
      all(MachineDeployment),
      all(Machine),
      all(OpenStackCluster),
      all(AddonSet),
    ]);
    return { clusters, controlPlanes, deployments, machines, infrastructures, addonSets };
  }

  /** New machines fail from now on, or no more. */
  async fail(failing: boolean): Promise<void> {
    this.#failing = failing;
    for (const machine of (await this.standing()).machines.filter((each) => !isReady(each) && !isDeleted(each)))
      await this.#ready(machine);
  }

  async moves(): Promise<readonly Move[]> {
    const standing = await this.standing();
    const [cluster] = standing.clusters;
    if (cluster === undefined || isDeleted(cluster)) return this.#endings(standing);
    return [...this.#ofCluster(cluster, standing), ...standing.deployments.flatMap((d) => this.#ofPool(d, standing))];
  }

  #ofCluster(cluster: Cluster, { controlPlanes: [plane], machines, addonSets }: ExistingObjects): readonly Move[] {
    const { finalizers = [] } = cluster.metadata;
    if (!finalizers.includes(FINALIZER))
      return [() => this.#patch(Cluster, cluster, { metadata: { finalizers: [...finalizers, FINALIZER] } })];
    const moves: Move[] = [];
    if (plane !== undefined && plane.status?.version !== plane.spec.version)
      moves.push(() =>
        this.#status(HostedControlPlane, plane, {
          version: plane.spec.version,
          observedGeneration: plane.metadata.generation,
          initialization: { controlPlaneInitialized: true },
          endpoint: { host: "203.0.113.1", port: 6443 },
          conditions: [condition("Available", "True", "Available")],
        }),
      );
    else if (plane !== undefined && plane.status?.observedGeneration !== plane.metadata.generation)
      moves.push(() => this.#status(HostedControlPlane, plane, { observedGeneration: plane.metadata.generation }));
    const rotating = plane === undefined ? undefined : authoritiesMove(plane, machines);
    if (plane !== undefined && rotating !== undefined) {
      if (rotating.wrong !== undefined) this.wrong = rotating.wrong;
      moves.push(() => this.#status(HostedControlPlane, plane, { authorities: rotating.next }));
    }
    for (const set of addonSets) {
      const next = addonsMove(set, plane, this.#failing);
      if (next !== undefined) moves.push(() => this.#status(AddonSet, set, next));
    }
    const initialization = { infrastructureProvisioned: true, controlPlaneInitialized: true };
    if (cluster.status?.initialization === undefined && plane?.status?.version !== undefined)
      moves.push(() => this.#status(Cluster, cluster, { initialization }));
    return moves;
  }

  #ofPool(pool: MachineDeployment, { machines }: ExistingObjects): readonly Move[] {
    const { name } = pool.metadata;
    const own = machines.filter(({ metadata }) => metadata.labels?.[labels.deploymentName] === name);
    const gone = own
      .filter((each) => isDeleted(each))
      .map(
        (each): Move =>
          () =>
            this.#release(Machine, each),
      );
    if (isDeleted(pool)) {
      const left = own.filter((each) => !isDeleted(each));
      return [
        ...gone,
        ...left.map(
          (each): Move =>
            () =>
              this.#delete(Machine, each),
        ),
      ];
    }
    const alive = own.filter((each) => !isDeleted(each));
    const wanted = pool.spec.replicas ?? 1;
    const current = alive.filter((each) => !isOutdated(each, pool));
    const moves: Move[] = [...gone];
    if (current.length < wanted) moves.push(() => this.#machine(pool));
    const marked = (each: Machine) => each.metadata.annotations?.["cluster.x-k8s.io/delete-machine"] !== undefined;
    const surplus = [
      ...alive.filter((each) => isOutdated(each, pool)),
      ...current.filter((each) => marked(each)),
      ...current,
    ];
    const [victim] = surplus;
    if (alive.length > wanted && victim !== undefined) moves.push(() => this.#delete(Machine, victim));
    for (const each of alive) if (!isReady(each) && !this.#failing) moves.push(() => this.#ready(each));
    const ready = alive.filter((each) => isReady(each)).length;
    const counts = { replicas: own.length, readyReplicas: ready, upToDateReplicas: current.length };
    const status = { ...counts, observedGeneration: pool.metadata.generation ?? 1 };
    const before = pool.status;
    const isSame = Object.entries(status).every(([key, value]) => before?.[key as keyof typeof before] === value);
    if (!isSame) moves.push(() => this.#status(MachineDeployment, pool, status));
    return moves;
  }

  #endings({ clusters, controlPlanes, deployments, machines, infrastructures }: ExistingObjects): readonly Move[] {
    const parts: readonly [ResourceType<KubeObject>, readonly KubeObject[]][] = [
      [Machine as ResourceType<KubeObject>, machines],
      [MachineDeployment as ResourceType<KubeObject>, deployments],
      [HostedControlPlane as ResourceType<KubeObject>, controlPlanes],
      [OpenStackCluster as ResourceType<KubeObject>, infrastructures],
    ];
    const moves = parts.flatMap(([type, objects]) =>
      objects.map(
        (object): Move =>
          () =>
            isDeleted(object) ? this.#release(type, object) : this.#delete(type, object),
      ),
    );
    if (moves.length > 0) return moves;
    return clusters.map(
      (each): Move =>
        () =>
          this.#release(Cluster, each),
    );
  }

  async #machine(pool: MachineDeployment): Promise<void> {
    const { metadata, spec } = pool.spec.template;
    await this.#client.create(Machine, {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Machine",
      metadata: {
        name: `${pool.metadata.name}-${(this.#made += 1)}`,
        namespace: this.#namespace,
        finalizers: [FINALIZER],
        // A pool that is deleted waits for its machines.
        ownerReferences: [{ ...ownerReference(pool), blockOwnerDeletion: true }],
        labels: {
          ...metadata?.labels,
          [labels.clusterName]: pool.spec.clusterName,
          [labels.deploymentName]: pool.metadata.name,
        },
      },
      spec,
    });
  }

  #ready(machine: Machine): Promise<unknown> {
    const { name } = machine.metadata;
    return this.#status(
      Machine,
      machine,
      this.#failing
        ? { conditions: [condition("InfrastructureReady", "False", "QuotaExceeded", "Quota exceeded (req-1)")] }
        : { nodeRef: { name }, conditions: [condition("NodeReady", "True", "NodeReady")] },
    );
  }

  #patch<T extends KubeObject>(
    type: ResourceType<T>,
    { metadata }: T,
    body: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    return this.#client.patch(type, { namespace: this.#namespace, name: metadata.name }, { type: "merge", body });
  }

  #status<T extends KubeObject>(type: ResourceType<T>, { metadata }: T, status: object): Promise<unknown> {
    const key = { namespace: this.#namespace, name: metadata.name };
    return this.#client.patch(type, key, { type: "merge", body: { status } }, { subresource: "status" });
  }

  #delete<T extends KubeObject>(type: ResourceType<T>, { metadata }: T): Promise<void> {
    return this.#client.delete(type, { namespace: this.#namespace, name: metadata.name });
  }

  #release<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<unknown> {
    return this.#patch(type, object, { metadata: { finalizers: null } });
  }
}
