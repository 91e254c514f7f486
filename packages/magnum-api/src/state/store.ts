import { MagnumCluster, MagnumClusterTemplate, MagnumQuota } from "@causeway/api";
import { canonicalJson, systemClock, type Clock } from "@causeway/foundation";
import {
  collectionPath,
  isAlreadyExists,
  isConflict,
  isNotFound,
  Namespace,
  type Informer,
  type Informers,
  type KubeObject,
  type KubernetesClient,
  type ObjectKey,
  type ResourceType,
} from "@causeway/kubernetes";
import { isPending, magnumLabels, namespaceOf } from "../cluster/names.ts";
import { openSources, type Sources } from "../cluster/gather.ts";
import { conflict } from "../wire/error.ts";
import { paced } from "./paced.ts";
import { requireRoom } from "./row-size.ts";

const byUuid = "magnum uuid";
const byProject = "magnum project";

type Named = MagnumCluster | MagnumClusterTemplate;

/** Where the API keeps its records: Kubernetes objects. Lists come from informers, which see our own writes at once. */
export interface Store {
  readonly client: KubernetesClient;
  readonly clusters: Informer<MagnumCluster>;
  readonly templates: Informer<MagnumClusterTemplate>;
  readonly quotas: Informer<MagnumQuota>;
  readonly sources: Sources;
  /** Whether all lists have been read once. */
  isSynced(): boolean;
  /** The resources whose lists did not arrive: their CRDs may be missing, or the right to list them. */
  unread(): readonly string[];
  /** The clusters of a project that clients see; of all with undefined. */
  clustersOf(project: string | undefined): readonly MagnumCluster[];
  /** How many rows a project has, those included that are being created. */
  countOf(project: string): number;
  /** These rows. */
  rowsOf(project: string): readonly MagnumCluster[];
  /** How many templates a project has. */
  templateCountOf(project: string): number;
  /** How many objects of its kind the project of this one has, as the API server has them now; at least that many. */
  freshCountOf<T extends Named>(type: ResourceType<T>, object: T, signal: AbortSignal): Promise<number>;
  /** The cluster as it is now, of this project or, with undefined, of any. */
  cluster(uuid: string, project: string | undefined, signal: AbortSignal): Promise<MagnumCluster | undefined>;
  /** Whether there is a row with this uuid, shown or not, as the API server has it now. */
  readonly hasRow: (uuid: string, signal: AbortSignal) => Promise<boolean>;
  template(uuid: string): MagnumClusterTemplate | undefined;
  /** The template of a project with this uuid, as the API server has it now: another process may have created it. */
  freshTemplate(uuid: string, project: string, signal: AbortSignal): Promise<MagnumClusterTemplate | undefined>;
  /** All templates of a project, likewise. One project gets them one time after the other, with pauses. */
  freshTemplates(project: string): Promise<readonly MagnumClusterTemplate[]>;
  /** The clusters of a project that clients see, in the same way. */
  freshClusters(project: string): Promise<readonly MagnumCluster[]>;
  /**
   * Creates an object in its project's namespace, which is created when it is not there. An object with a uuid whose
   * answer was lost is found again. @throws MagnumError 409 for one that is too large
   */
  create<T extends KubeObject>(type: ResourceType<T>, object: T, project: string, signal: AbortSignal): Promise<T>;
  /**
   * Reads the object, changes it and writes it, again if another writer came first; the same object is not written.
   * @throws MagnumError 409 after many attempts, and for one that would be too large
   */
  change<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    change: (object: T) => T,
    signal: AbortSignal,
  ): Promise<T>;
  /** Deletes an object, and waits until lists do not show it, or show that it is being deleted. */
  remove<T extends KubeObject>(informer: Informer<T>, object: T, signal: AbortSignal): Promise<void>;
}

const ATTEMPTS = 10;
const LAG = 5_000;
/** Milliseconds for a list that is shared. */
const LIST = 30_000;

/** A list of a project's namespace that many requests share: none of them ends it. */
const whole = (project: string) => ({ namespace: namespaceOf(project), signal: AbortSignal.timeout(LIST) });

/** The store over the informers of a management cluster, with indexes by uuid and by project. */
export function openStore(informers: Informers, clock: Clock = systemClock): Store {
  const { client } = informers;
  const clusters = informers.for(MagnumCluster);
  const templates = informers.for(MagnumClusterTemplate);
  const quotas = informers.for(MagnumQuota);
  const indexes = { [byUuid]: ({ spec }: Named) => [spec.uuid], [byProject]: ({ spec }: Named) => [spec.projectID] };
  informers.index(clusters, indexes);
  informers.index(templates, indexes);
  const sources = openSources(informers);
  const lists: readonly Pick<Informer<KubeObject>, "synced" | "type">[] = [
    ...new Set([clusters, templates, quotas, ...Object.values(sources)] as Informer<KubeObject>[]),
  ];
  return {
    client,
    clusters,
    templates,
    quotas,
    sources,
    isSynced: () => lists.every(({ synced }) => synced),
    unread: () => lists.filter(({ synced }) => !synced).map(({ type }) => nameOf(type)),
    clustersOf: (project) =>
      (project === undefined ? clusters.list() : clusters.byIndex(byProject, project)).filter((one) => !isPending(one)),
    countOf: (project) => clusters.byIndex(byProject, project).length,
    rowsOf: (project) => clusters.byIndex(byProject, project),
    templateCountOf: (project) => templates.byIndex(byProject, project).length,
    freshCountOf: (type, { metadata }, signal) => freshCount(client, collectionPath(type, metadata.namespace), signal),
    async cluster(uuid, project, signal) {
      const [known] = clusters.byIndex(byUuid, uuid);
      // Another process may have written it just now. Searching all namespaces reads too many objects for a guess.
      const place = project === undefined ? {} : { namespace: namespaceOf(project) };
      const found = known
        ? await client.find(MagnumCluster, keyOf(known), { signal })
        : (await client.list(MagnumCluster, { ...place, labelSelector: `${magnumLabels.uuid}=${uuid}`, signal }))
            .items[0];
      if (found === undefined || isPending(found)) return undefined;
      return project === undefined || found.spec.projectID === project ? found : undefined;
    },
    async hasRow(uuid, signal) {
      if (clusters.byIndex(byUuid, uuid).length > 0) return true;
      const labelSelector = `${magnumLabels.uuid}=${uuid}`;
      return (await client.list(MagnumCluster, { labelSelector, signal })).items.length > 0;
    },
    template: (uuid) => templates.byIndex(byUuid, uuid)[0],
    async freshTemplate(uuid, project, signal) {
      const labelSelector = `${magnumLabels.uuid}=${uuid}`;
      const { items } = await client.list(MagnumClusterTemplate, {
        namespace: namespaceOf(project),
        labelSelector,
        signal,
      });
      return items.find(({ spec }) => spec.projectID === project);
    },
    freshTemplates: paced(clock, async (project) => {
      const { items } = await client.list(MagnumClusterTemplate, whole(project));
      return items.filter(({ spec }) => spec.projectID === project);
    }),
    freshClusters: paced(clock, async (project) => {
      const { items } = await client.list(MagnumCluster, whole(project));
      return items.filter((one) => one.spec.projectID === project && !isPending(one));
    }),
    async create(type, object, project, signal) {
      const namespace = namespaceOf(project);
      const placed = { ...object, metadata: { ...object.metadata, namespace } };
      requireRoom(undefined, placed);
      try {
        return await createOnce(client, type, placed, signal);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      await createNamespace(client, namespace, project, signal);
      return createOnce(client, type, placed, signal);
    },
    async change(type, key, change, signal) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const before = await client.get(type, key, { signal });
        const wanted = change(before);
        if (wanted === before) return before;
        requireRoom(before, wanted);
        try {
          return await client.update(type, wanted, { signal });
        } catch (error) {
          if (isConflict(error)) continue;
          // It may have been written though the answer was lost: then a client that repeats it would be refused.
          const found = await client.find(type, key, { signal }).catch(() => undefined);
          if (found === undefined || !isWritten(found, { before, wanted })) throw error;
          return found;
        }
      }
      throw conflict("Conflict.");
    },
    async remove(informer, object, signal) {
      const key = keyOf(object);
      const { uid } = object.metadata;
      await client.delete(informer.type, key, { ...(uid === undefined ? {} : { preconditions: { uid } }), signal });
      await untilUnlisted(informer, object, AbortSignal.any([signal, AbortSignal.timeout(LAG)]));
    },
  };
}

/**
 * What one short page says is left of the project's namespace, so that a create costs the same however many there are.
 */
async function freshCount(client: KubernetesClient, path: string, signal: AbortSignal): Promise<number> {
  const page = (await client.request("GET", path, { query: { limit: "1" }, signal })) as {
    readonly items: readonly unknown[];
    readonly metadata: { readonly remainingItemCount?: number };
  };
  return page.items.length + (page.metadata.remainingItemCount ?? 0);
}

const nameOf = ({ plural, group }: ResourceType<KubeObject>): string => (group === "" ? plural : `${plural}.${group}`);

const keyOf = ({ metadata }: KubeObject): ObjectKey => ({ namespace: metadata.namespace ?? "", name: metadata.name });

async function createOnce<T extends KubeObject>(
  client: KubernetesClient,
  type: ResourceType<T>,
  object: T,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await client.create(type, object, { signal });
  } catch (error) {
    const uuid = uuidOf(object);
    if (uuid === undefined || isNotFound(error) || signal.aborted) throw error;
    const found = await client.find(type, keyOf(object), { signal });
    if (found === undefined || uuidOf(found) !== uuid) throw error;
    return found;
  }
}

/** Is this the object after the write? */
function isWritten<T extends KubeObject>(found: T, { before, wanted }: { readonly before: T; readonly wanted: T }) {
  const content = (object: T) => {
    const { metadata, spec = null } = object as T & { readonly spec?: unknown };
    return canonicalJson([spec, metadata.annotations ?? {}, metadata.labels ?? {}]);
  };
  return (
    found.metadata.uid === before.metadata.uid &&
    found.metadata.resourceVersion !== before.metadata.resourceVersion &&
    content(found) === content(wanted)
  );
}

/** A uuid is made for one create: an object that has it is the one of that create. */
function uuidOf({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[magnumLabels.uuid];
}

async function createNamespace(
  client: KubernetesClient,
  name: string,
  project: string,
  signal: AbortSignal,
): Promise<void> {
  const labels = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/.test(project)
    ? { [magnumLabels.project]: project }
    : {};
  const namespace: Namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
  try {
    await client.create(Namespace, namespace, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Resolves as well when the informer lags for long: then a list shows the object a little longer. */
function untilUnlisted<T extends KubeObject>(
  informer: Informer<T>,
  { metadata }: T,
  signal: AbortSignal,
): Promise<void> {
  const isListed = (): boolean => {
    const found = informer.get({ namespace: metadata.namespace ?? "", name: metadata.name });
    return found?.metadata.uid === metadata.uid && found?.metadata.deletionTimestamp === undefined;
  };
  return new Promise((resolve) => {
    const done = (): void => {
      stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const stop = informer.onChange(() => {
      if (!isListed()) queueMicrotask(done);
    });
    signal.addEventListener("abort", done, { once: true });
    if (!isListed() || signal.aborted) queueMicrotask(done);
  });
}
