import { createHash } from "node:crypto";
import { CausewayError, type Clock } from "@causeway/foundation";
import {
  isAlreadyExists,
  isConflict,
  keyOf,
  Namespace,
  type Condition,
  type KubeObject,
  type KubernetesClient,
} from "@causeway/kubernetes";
import {
  copyOf,
  fingerprint,
  graphOf,
  isCluster,
  isCopyOf,
  marks,
  withoutMarks,
  withoutProgress,
  type Member,
} from "./graph.ts";
import { readMembers } from "./read.ts";

/** The field manager of every write of a move. */
export const fieldManager = "causeway-move";

/** The kind, namespace and name of an object, for messages. */
export const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace}/${metadata.name}`;

/** Where clusters are read, and how long their controllers may take to observe a pause. */
export interface Source {
  readonly from: KubernetesClient;
  readonly namespace: string;
  /** Ms that controllers may take to observe that their objects are paused. Default a minute. */
  readonly pauseTimeout?: number;
  readonly clock: Clock;
}

interface SettledOptions extends Source {
  readonly concerned?: (graph: readonly Member[]) => readonly Member[];
}

/** Pauses a Cluster, and notes on it where it moves and whether it was paused before. */
export async function pause(
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

/**
 * The graph once every controller that reports it has observed the pause. `concerned`: what of it was paused.
 * @throws MOVE_NOT_PAUSED
 */
export async function settled(
  { from, namespace, clock, pauseTimeout = 60_000, concerned = (graph) => graph }: SettledOptions,
  types: Parameters<typeof readMembers>[1],
  signal: AbortSignal,
): Promise<Member[]> {
  const until = clock.now() + pauseTimeout;
  for (;;) {
    const graph = graphOf(await readMembers(from, types, namespace, signal));
    const acting = concerned(graph).find(({ object }) => pausedCondition(object)?.status === "False");
    if (!acting) return graph;
    if (clock.now() >= until)
      throw new CausewayError(
        "MOVE_NOT_PAUSED",
        `${nameOf(acting.object)} is not paused: its controller has not observed it`,
        {
          hint: "Check that its controller runs, and repeat the command. Clusters of which the target has nothing yet are unpaused again; the others remain paused until then.",
        },
      );
    await clock.sleep(250, signal);
  }
}

function pausedCondition(object: KubeObject): Condition | undefined {
  const { conditions } = ((object as { status?: unknown }).status ?? {}) as { conditions?: Condition[] };
  return conditions?.find(({ type }) => type === "Paused");
}

/** Creates the namespace where it does not exist. */
export async function createNamespace(client: KubernetesClient, name: string, signal: AbortSignal): Promise<void> {
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  await client.create(Namespace, object, { fieldManager, signal }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

/**
 * Creates one object in the target, or takes the one that an earlier attempt created. Returns its uid there. `source`:
 * the management cluster that it comes from; undefined: a folder.
 * @throws MOVE_TARGET_OCCUPIED
 */
export async function copy(
  { client, source }: { readonly client: KubernetesClient; readonly source?: string },
  member: Member,
  uids: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<string> {
  const { type, object } = member;
  const wanted = copyOf(member, uids, source);
  const there = await client.create(type, wanted, { fieldManager, signal }).catch(async (error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
    return client.get(type, keyOf(object), { signal });
  });
  if (there.metadata.annotations?.[marks.from] !== object.metadata.uid || !isCopyOf(there, source))
    throw new CausewayError("MOVE_TARGET_OCCUPIED", `the target has another ${nameOf(object)}`, {
      hint: "Delete or rename it there, and repeat the command. What is paused remains so until then.",
    });
  // A cluster of an earlier wave uses it: its status is that of the target.
  if (!isCluster(member) && there.metadata.annotations?.[marks.copied] !== undefined) return there.metadata.uid ?? "";
  await copyStatus(client, member, there, signal);
  return there.metadata.uid ?? "";
}

/** Times that a status is written again which a controller of the target changed meanwhile. */
const STATUS_ATTEMPTS = 5;

/** Controllers of the target write that the object is paused, and nothing else. */
async function copyStatus(
  client: KubernetesClient,
  { type, object }: Member,
  created: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const { status } = object as { status?: unknown };
  if (status === undefined) return;
  let there = created;
  for (let attempt = 1; ; attempt++) {
    const wanted = { ...there, status } as KubeObject;
    if (fingerprint(there, () => false) === fingerprint(wanted, () => false)) return;
    try {
      await client.update(type, wanted, { subresource: "status", fieldManager, signal });
      return;
    } catch (error) {
      if (!isConflict(error) || attempt === STATUS_ATTEMPTS) throw error;
      there = await client.get(type, keyOf(object), { signal });
    }
  }
}

/** Of what several clusters use, as it was compared: what the target's controllers write later does not count. */
export function sharedDigest(object: KubeObject): string {
  return createHash("sha256")
    .update(fingerprint(withoutProgress(object), () => false))
    .digest("hex");
}

/**
 * Proves that the target has exactly what the source has.
 * @throws MOVE_NOT_EQUAL
 */
export async function compare(
  { from, copied, to }: { from: readonly Member[]; copied: readonly Member[]; to: KubernetesClient },
  uids: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const known = new Set(uids.values());
  const before = new Set(copied.map(({ object }) => object.metadata.uid));
  for (const { type, object } of from) {
    const there = before.has(object.metadata.uid) ? await to.find(type, keyOf(object), { signal }) : undefined;
    const used = there?.kind === "Cluster" ? undefined : there?.metadata.annotations?.[marks.copied];
    if (used !== undefined && used !== sharedDigest(object)) throw changedSince(object);
    const equal =
      there !== undefined &&
      (used !== undefined ||
        fingerprint(object, (uid) => uids.has(uid)) === fingerprint(there, (uid) => known.has(uid)));
    if (!equal)
      throw new CausewayError("MOVE_NOT_EQUAL", `${nameOf(object)} differs between source and target`, {
        hint: "Something writes to one of the two sides: stop it, delete the object in the target if it was changed there, and repeat the command. Nothing was deleted.",
      });
  }
}

function changedSince(object: KubeObject): CausewayError {
  const what = `${nameOf(object)}, which several clusters use, was changed in the source after the first of them moved`;
  return new CausewayError("MOVE_NOT_EQUAL", what, {
    hint: "Undo the change in the source, and repeat the command; make it in the target afterwards. Nothing more was deleted.",
  });
}

/** Sets annotations of one object. */
export async function annotate(
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

/** Takes the marks off one object of the target, and lets controllers act on a Cluster that was not paused before. */
export async function release(client: KubernetesClient, member: Member, signal: AbortSignal): Promise<void> {
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
