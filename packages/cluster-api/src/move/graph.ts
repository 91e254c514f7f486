import { canonicalJson, isRecord } from "@causeway/foundation";
import type { KubeObject, ResourceType } from "@causeway/kubernetes";
import { withDefaults } from "../admission/defaults.ts";

/** Marks of a move. On both sides, so that it is resumed after an end at any point. */
export const marks = {
  /** On a Cluster of the source: the uid of namespace kube-system of the target, or `targetFolder`. */
  target: "move.causeway.dev/target",
  /**
   * On a Cluster of the source: everything is in the target and compared; what is left here is deleted. On an object of
   * the target that several clusters use: a cluster of an earlier wave uses it already, and how it was then.
   */
  copied: "move.causeway.dev/copied",
  /** On both: whether the Cluster was paused before. */
  paused: "move.causeway.dev/was-paused",
  /** On each object of the target: the uid that the object had in the source. */
  from: "move.causeway.dev/from",
  /** On each of them: the uid of namespace kube-system of the source. */
  source: "move.causeway.dev/source",
} as const;

const FOLDER = "directory ";

/** The mark of a Cluster that is saved in a folder; `path` is absolute. */
export const targetFolder = (path: string): string => `${FOLDER}${path}`;

/** The folder of such a mark; undefined: it is of another management cluster. */
export const savedFolder = (target: string): string | undefined =>
  target.startsWith(FOLDER) ? target.slice(FOLDER.length) : undefined;

/** clusterctl's label for objects that are moved although nothing owns them. */
const moveLabel = "clusterctl.cluster.x-k8s.io/move";
const clusterLabel = "cluster.x-k8s.io/cluster-name";
const sourceLabel = "addons.causeway.dev/source";

/** An object with its type, so that it can be read, created and deleted. */
export interface Member {
  readonly type: ResourceType<KubeObject>;
  readonly object: KubeObject;
}

/**
 * What is moved of a namespace, each object after its owners: every object of the contract's kinds, and of Secrets and
 * ConfigMaps those that belong to one, hold credentials of one, or have clusterctl's label.
 */
export function graphOf(members: readonly Member[]): Member[] {
  const included = new Set<string>(members.filter(isRoot).map(uidOf));
  const secrets = namedSecrets(members);
  for (let before = -1; before !== included.size;) {
    before = included.size;
    for (const member of members)
      if (!included.has(uidOf(member)) && belongs(member, included, secrets)) included.add(uidOf(member));
  }
  return ordered(members.filter((member) => included.has(uidOf(member))));
}

const uidOf = ({ object }: Member): string => object.metadata.uid ?? "";

/** A Cluster of Cluster API, at any version. */
export function isCluster({ object }: Pick<Member, "object">): boolean {
  return object.kind === "Cluster" && object.apiVersion.startsWith("cluster.x-k8s.io/");
}

function isRoot({ object }: Member): boolean {
  return !isPlain(object) || object.metadata.labels?.[moveLabel] !== undefined;
}

function isPlain({ kind, apiVersion }: KubeObject): boolean {
  return apiVersion === "v1" && (kind === "Secret" || kind === "ConfigMap");
}

function belongs({ object }: Member, included: ReadonlySet<string>, secrets: ReadonlySet<string>): boolean {
  const { ownerReferences = [], labels = {}, name } = object.metadata;
  if (ownerReferences.some(({ uid }) => included.has(uid))) return true;
  if (object.kind === "Secret" && (secrets.has(name) || labels[clusterLabel] !== undefined)) return true;
  return (object.kind === "Secret" || object.kind === "ConfigMap") && labels[sourceLabel] === "true";
}

/** Credentials that nothing owns. */
function namedSecrets(members: readonly Member[]): Set<string> {
  return new Set(members.flatMap(({ object }) => secretsNamedBy(object)));
}

/** The Secrets of the namespace that an object names: by identityRef, or as a control plane's cloudConfigSecret. */
export function secretsNamedBy(object: KubeObject): string[] {
  if (object.kind === "Secret" || object.kind === "ConfigMap") return [];
  const names: string[] = [];
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== "object" || value === null || depth > 32) return;
    for (const [key, inner] of Object.entries(value)) {
      const { name, type = "Secret" } = (inner ?? {}) as { name?: unknown; type?: unknown };
      if (key === "identityRef" && typeof name === "string" && type === "Secret") names.push(name);
      if (key === "cloudConfigSecret" && typeof inner === "string") names.push(inner);
      visit(inner, depth + 1);
    }
  };
  visit(object, 0);
  return names;
}

/** Owners first. What nothing of the graph owns comes first of all, and Clusters before the rest of that. */
function ordered(members: readonly Member[]): Member[] {
  const byUid = new Map(members.map((member) => [uidOf(member), member]));
  const done = new Set<string>();
  const result: Member[] = [];
  const visit = (member: Member, path: ReadonlySet<string>): void => {
    const uid = uidOf(member);
    if (done.has(uid) || path.has(uid)) return;
    for (const owner of member.object.metadata.ownerReferences ?? []) {
      const found = byUid.get(owner.uid);
      if (found) visit(found, new Set([...path, uid]));
    }
    done.add(uid);
    result.push(member);
  };
  const rank = (member: Member): number => (isCluster(member) ? 0 : 1);
  for (const member of members.toSorted((a, b) => rank(a) - rank(b))) visit(member, new Set());
  return result;
}

/**
 * The order of deletion in the source: what nothing owns (credentials) first, since only its users lead to it; Clusters
 * last.
 */
export function deletionOrder(graph: readonly Member[]): Member[] {
  const isFree = ({ object }: Member): boolean =>
    isPlain(object) && (object.metadata.ownerReferences ?? []).length === 0;
  return [...graph.filter(isFree), ...graph.filter((member) => !isFree(member)).toReversed()];
}

/** Did a move from this source, or a folder (undefined), create it here? */
export function isCopyOf(object: KubeObject, source: string | undefined): boolean {
  const { [marks.from]: from, [marks.source]: of } = object.metadata.annotations ?? {};
  return from !== undefined && of === source;
}

/**
 * The object as it is created in the target. `uids`: those of the target by those of the source. `source`: which
 * management cluster; undefined: a folder.
 */
export function copyOf({ object }: Member, uids: ReadonlyMap<string, string>, source?: string): KubeObject {
  const { metadata, status: _status, ...rest } = object as KubeObject & { status?: unknown };
  const { labels, annotations = {}, finalizers, name, namespace, uid = "" } = metadata;
  const ownerReferences = (metadata.ownerReferences ?? []).flatMap((owner) => {
    const to = uids.get(owner.uid);
    return to === undefined ? [] : [{ ...owner, uid: to }];
  });
  return {
    ...rest,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels ? { labels } : {}),
      annotations: {
        ...withoutMarks(annotations),
        ...kept(annotations),
        [marks.from]: uid,
        ...(source === undefined ? {} : { [marks.source]: source }),
      },
      ...(finalizers ? { finalizers } : {}),
      ...(ownerReferences.length === 0 ? {} : { ownerReferences }),
    },
  };
}

function kept(annotations: Readonly<Record<string, string>>): Record<string, string> {
  const paused = annotations[marks.paused];
  return paused === undefined ? {} : { [marks.paused]: paused };
}

/** The annotations that an object has when no move is under way. */
export function withoutMarks(annotations: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith("move.causeway.dev/")));
}

/**
 * What must be equal on both sides: everything but what a server counts, with owners by their names, and but the
 * condition Paused, which the controllers of each side write while the move is under way.
 */
export function fingerprint(object: KubeObject, known: (uid: string) => boolean): string {
  // The target has admission's defaults, which a source of an older release lacks.
  const { metadata, status, ...rest } = withDefaults(object as KubeObject & { status?: unknown });
  const owners = (metadata.ownerReferences ?? []).filter(({ uid }) => known(uid));
  const { labels = {}, annotations = {}, finalizers = [], name, namespace } = metadata;
  return canonicalJson({
    ...rest,
    status: withoutPaused(status),
    metadata: {
      name,
      namespace,
      labels,
      annotations: withoutMarks(annotations),
      finalizers: finalizers.toSorted(),
      owners: owners.map(({ uid: _uid, ...owner }) => owner),
    },
  });
}

/** Of what clusters of an earlier wave use in the target already: without what its controllers write. */
export function withoutProgress(object: KubeObject): KubeObject {
  const { status: _status, metadata, ...rest } = object as KubeObject & { status?: unknown };
  const { finalizers: _finalizers, ownerReferences: _owners, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

function withoutPaused(status: unknown): unknown {
  if (!isRecord(status)) return status ?? {};
  const { conditions, ...rest } = status;
  if (!Array.isArray(conditions)) return status;
  const others = conditions.filter((each: unknown) => !isRecord(each) || each["type"] !== "Paused");
  return others.length === 0 ? rest : { ...rest, conditions: others };
}
