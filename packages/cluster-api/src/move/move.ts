import { CausewayError, type Clock } from "@causeway/foundation";
import {
  isAlreadyExists,
  Namespace,
  type Condition,
  type KubeObject,
  type KubernetesClient,
  type ObjectKey,
} from "@causeway/kubernetes";
import { copyOf, deletionOrder, fingerprint, graphOf, isCluster, marks, withoutMarks, type Member } from "./graph.ts";
import { clusterId, movedTypes, readMembers, refuseMissingKinds } from "./read.ts";

/** Which objects go from which API server to which. */
export interface MoveOptions {
  readonly from: KubernetesClient;
  readonly to: KubernetesClient;
  readonly namespace: string;
  /** Checks, and changes nothing. */
  readonly dryRun?: boolean;
  /** Ms that controllers may take to observe that their objects are paused. Default a minute. */
  readonly pauseTimeout?: number;
  readonly clock: Clock;
  /** What is being done, in words. */
  readonly report: (line: string) => void;
}

/** How many objects were moved, by their kinds. */
export interface MoveResult {
  readonly clusters: readonly string[];
  readonly objects: number;
}

const fieldManager = "causeway-move";

/**
 * Moves every Cluster of a namespace, with all that belongs to it, from one management cluster to another. Clusters are
 * paused in both until nothing is left in the source: at no moment do controllers of both act. It may end at any point;
 * the same call again goes on.
 * @throws MOVE_SAME_CLUSTER, MOVE_NOTHING, MOVE_UNDER_WAY, MOVE_KIND_MISSING, MOVE_CONTROL_PLANE_STAYS,
 * MOVE_OBJECT_DELETED, MOVE_NOT_PAUSED,
 *   MOVE_TARGET_OCCUPIED, MOVE_NOT_EQUAL
 */
export async function moveClusters(options: MoveOptions, signal: AbortSignal): Promise<MoveResult> {
  const { from, to, namespace, report } = options;
  const [source, target] = await Promise.all([clusterId(from, signal), clusterId(to, signal)]);
  if (source === target)
    throw new CausewayError("MOVE_SAME_CLUSTER", "source and target are the same cluster", {
      hint: "Name the target with --to-kubeconfig and --to-context.",
    });
  const types = await movedTypes(from, signal);
  const graph = graphOf(await readMembers(from, types, namespace, signal));
  const clusters = graph.filter(isCluster);
  if (clusters.length > 0) {
    const copied = clusters.every(({ object }) => object.metadata.annotations?.[marks.copied] === target);
    await check({ ...options, graph, target }, signal);
    if (options.dryRun === true) return resultOf(graph);
    if (!copied) await copyAll({ ...options, graph, types, target }, signal);
    const left = graphOf(await readMembers(from, types, namespace, signal));
    report(`deleting ${left.length} objects of the source`);
    for (const member of deletionOrder(left)) await remove(from, member, signal);
  }
  const here = graphOf(await readMembers(to, await movedTypes(to, signal), namespace, signal));
  const moved = here.filter(({ object }) => object.metadata.annotations?.[marks.from] !== undefined);
  if (moved.length === 0 && clusters.length === 0)
    throw new CausewayError("MOVE_NOTHING", `namespace ${namespace} of the source has no Cluster`, {
      hint: "Name the namespace of the Clusters with --namespace.",
    });
  if (options.dryRun !== true) {
    report("unpausing the clusters in the target");
    // Clusters last: as long as one is marked, an attempt that ended is resumed.
    for (const member of moved.toReversed()) await release(to, member, signal);
  }
  return resultOf(moved);
}

function resultOf(graph: readonly Member[]): MoveResult {
  const clusters = graph.filter(isCluster).map(({ object }) => object.metadata.name);
  return { clusters, objects: graph.length };
}

interface MoveContext extends MoveOptions {
  readonly graph: readonly Member[];
  readonly target: string;
}

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace}/${metadata.name}`;
const keyOf = ({ metadata }: KubeObject): ObjectKey => ({ namespace: metadata.namespace ?? "", name: metadata.name });

/** Everything that can be refused is refused before anything is changed. */
async function check({ graph, target, to }: MoveContext, signal: AbortSignal): Promise<void> {
  for (const { object } of graph) {
    const other = object.metadata.annotations?.[marks.target];
    if (other !== undefined && other !== target)
      throw new CausewayError("MOVE_UNDER_WAY", `${nameOf(object)} is being moved to another management cluster`, {
        hint: "Finish that move first: repeat its command.",
      });
    if (object.metadata.deletionTimestamp !== undefined)
      throw new CausewayError("MOVE_OBJECT_DELETED", `${nameOf(object)} is being deleted`, {
        hint: "Wait until it is gone, then move.",
      });
    if (object.kind === "HostedControlPlane")
      throw new CausewayError(
        "MOVE_CONTROL_PLANE_STAYS",
        `${nameOf(object)} cannot be moved: the data of its API server is in the process that runs it, not in objects`,
        { hint: "Clusters with hosted control planes move with causeway backup and restore. Nothing was changed." },
      );
  }
  await refuseMissingKinds(to, graph, signal);
}

async function copyAll(
  moving: MoveContext & { readonly types: Parameters<typeof readMembers>[1] },
  signal: AbortSignal,
): Promise<void> {
  const { from, to, namespace, target, types, report } = moving;
  report(`pausing ${moving.graph.filter(isCluster).length} clusters of the source`);
  for (const member of moving.graph) if (isCluster(member)) await pause(from, member, target, signal);
  const graph = await settled(moving, types, signal);
  await createNamespace(to, namespace, signal);
  report(`copying ${graph.length} objects`);
  const uids = new Map<string, string>();
  for (const member of graph) uids.set(member.object.metadata.uid ?? "", await copy(to, member, uids, signal));
  report("comparing both sides");
  const again = graphOf(await readMembers(from, types, namespace, signal));
  await compare({ from: again, copied: graph, to }, uids, signal);
  for (const member of again) if (isCluster(member)) await annotate(from, member, { [marks.copied]: target }, signal);
}

async function pause(
  client: KubernetesClient,
  { type, object }: Member,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const { annotations = {} } = object.metadata;
  if (annotations[marks.target] === target) return;
  const { paused = false } = (object as { spec?: { paused?: boolean } }).spec ?? {};
  const body = {
    metadata: { annotations: { [marks.target]: target, [marks.paused]: String(paused) } },
    spec: { paused: true },
  };
  await client.patch(type, keyOf(object), { type: "merge", body }, { fieldManager, signal });
}

/** The graph once every controller that reports it has observed the pause. */
async function settled(
  { from, namespace, clock, pauseTimeout = 60_000 }: MoveContext,
  types: Parameters<typeof readMembers>[1],
  signal: AbortSignal,
): Promise<Member[]> {
  const until = clock.now() + pauseTimeout;
  for (;;) {
    const graph = graphOf(await readMembers(from, types, namespace, signal));
    const acting = graph.find(({ object }) => pausedCondition(object)?.status === "False");
    if (!acting) return graph;
    if (clock.now() >= until)
      throw new CausewayError(
        "MOVE_NOT_PAUSED",
        `${nameOf(acting.object)} is not paused: its controller has not observed it`,
        {
          hint: "Check that its controller runs, and repeat the command. The clusters stay paused until then.",
        },
      );
    await clock.sleep(250, signal);
  }
}

function pausedCondition(object: KubeObject): Condition | undefined {
  const { conditions } = ((object as { status?: unknown }).status ?? {}) as { conditions?: Condition[] };
  return conditions?.find(({ type }) => type === "Paused");
}

async function createNamespace(client: KubernetesClient, name: string, signal: AbortSignal): Promise<void> {
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  await client.create(Namespace, object, { fieldManager, signal }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

/** Creates one object in the target, or takes the one that an earlier attempt created. Returns its uid there. */
async function copy(
  client: KubernetesClient,
  member: Member,
  uids: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<string> {
  const { type, object } = member;
  const wanted = copyOf(member, uids);
  const there = await client.create(type, wanted, { fieldManager, signal }).catch(async (error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
    return client.get(type, keyOf(object), { signal });
  });
  if (there.metadata.annotations?.[marks.from] !== object.metadata.uid)
    throw new CausewayError("MOVE_TARGET_OCCUPIED", `the target has another ${nameOf(object)}`, {
      hint: "Delete or rename it there, and repeat the command. The clusters of the source stay paused until then.",
    });
  const { status } = object as { status?: unknown };
  if (
    status !== undefined &&
    fingerprint(there, () => false) !== fingerprint({ ...there, status } as KubeObject, () => false)
  )
    await client.update(type, { ...there, status } as KubeObject, { subresource: "status", fieldManager, signal });
  return there.metadata.uid ?? "";
}

/** Proves that the target has exactly what the source has. */
async function compare(
  { from, copied, to }: { from: readonly Member[]; copied: readonly Member[]; to: KubernetesClient },
  uids: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const known = new Set(uids.values());
  const before = new Set(copied.map(({ object }) => object.metadata.uid));
  for (const { type, object } of from) {
    const there = before.has(object.metadata.uid) ? await to.find(type, keyOf(object), { signal }) : undefined;
    const equal =
      there !== undefined &&
      fingerprint(object, (uid) => uids.has(uid)) === fingerprint(there, (uid) => known.has(uid));
    if (!equal)
      throw new CausewayError("MOVE_NOT_EQUAL", `${nameOf(object)} differs between source and target`, {
        hint: "Something writes to one of the two sides: stop it, delete the object in the target if it was changed there, and repeat the command. Nothing was deleted.",
      });
  }
}

async function annotate(
  client: KubernetesClient,
  { type, object }: Member,
  annotations: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  await client.patch(
    type,
    keyOf(object),
    { type: "merge", body: { metadata: { annotations } } },
    { fieldManager, signal },
  );
}

/** Deletes one object of the source without its controllers: no finalizer, no cascade. */
async function remove(client: KubernetesClient, { type, object }: Member, signal: AbortSignal): Promise<void> {
  const { uid = "", finalizers = [] } = object.metadata;
  const preconditions = { uid };
  if (finalizers.length > 0)
    await client.patch(
      type,
      keyOf(object),
      { type: "merge", body: { metadata: { uid, finalizers: null } } },
      { fieldManager, signal },
    );
  await client.delete(type, keyOf(object), { preconditions, propagationPolicy: "Orphan", signal });
}

/** Takes the marks off one object of the target, and lets controllers act on a Cluster that was not paused before. */
async function release(client: KubernetesClient, member: Member, signal: AbortSignal): Promise<void> {
  const { type, object } = member;
  const { annotations = {} } = object.metadata;
  const kept = withoutMarks(annotations);
  const removed = Object.keys(annotations).filter((key) => !(key in kept));
  const body = {
    metadata: { annotations: Object.fromEntries(removed.map((key) => [key, null])) },
    ...(isCluster(member) && annotations[marks.paused] === "false" ? { spec: { paused: null } } : {}),
  };
  await client.patch(type, keyOf(object), { type: "merge", body }, { fieldManager, signal });
}
