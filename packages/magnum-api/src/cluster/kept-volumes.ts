import { credentialsOf, type MagnumCluster } from "@causeway/api";
import { messageOf, shortList, type Clock, type Log } from "@causeway/foundation";
import { keyOf, Secret, secretText, type KubernetesClient, type PlannedEvent } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { createSharedLists } from "./shared-lists.ts";
import { CLOUD } from "./names.ts";

/** Milliseconds that a deletion waits for Cinder. */
const DEADLINE = 10_000;
/** Volumes that an event names; the others are counted. */
const NAMED = 10;
/** As the CSI driver of cloud-provider-openstack marks what it made. */
const MARK = "cinder.csi.openstack.org/cluster";
const DESCRIPTION = "Created by OpenStack Cinder CSI driver";

/** Reads which volumes of claims in a cluster are in its project, with the cluster's own credential. */
export type ReadVolumes = (cluster: MagnumCluster, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * A reader of the ids of a cluster's volumes. Without a credential there are none. Clusters of one project that are
 * deleted at once share lists of its volumes.
 */
export function createVolumeReader(client: KubernetesClient, using: { clock: Clock; log: Log }): ReadVolumes {
  const lists = createSharedLists<readonly Marked[]>();
  return async ({ metadata, spec }, signal) => {
    const { namespace = "", name } = metadata;
    const secret = await client.find(Secret, { namespace, name: credentialsOf(name) }, { signal });
    const text = secretText(secret, "clouds.yaml");
    if (text === undefined) return [];
    const cloud = connectCloud(loadCloudsYaml({ cloud: CLOUD, text }), using);
    try {
      const list = (stop: AbortSignal) => markedVolumes(cloud, stop);
      const all = await lists.read(spec.projectID, list, signal);
      // Those of a cluster that was migrated from Heat have its uuid.
      const names = [`${namespace}-${name}`, spec.uuid];
      const own = all.filter(({ mark }) => names.includes(mark));
      return own.map(({ id }) => id).toSorted();
    } finally {
      await cloud.close();
    }
  };
}

/** A volume of a claim in some cluster. */
interface Marked {
  readonly id: string;
  /** The cluster. */
  readonly mark: string;
}

async function markedVolumes(cloud: Cloud, signal: AbortSignal): Promise<readonly Marked[]> {
  const all = await cloud.blockStorage.volumes.all({}, { signal });
  return all
    .filter(({ description }) => description === DESCRIPTION)
    .map(({ id, metadata }) => ({ id, mark: metadata[MARK] ?? "" }));
}

/** Clusters that a process remembers: a deletion that is repeated after that many others reads its volumes again. */
const REMEMBERED = 1_000;

/**
 * What is to be said of a cluster's volumes, once for each deletion: an attempt that is repeated because its credential
 * cannot be revoked reads nothing and says nothing more.
 */
export function createKeptVolumes(options: {
  readonly read: ReadVolumes;
  readonly log: Log;
}): (cluster: MagnumCluster, signal: AbortSignal) => Promise<PlannedEvent | undefined> {
  const known = new Set<string>();
  return async (cluster, signal) => {
    const { uid = "" } = cluster.metadata;
    if (known.has(uid)) return undefined;
    const kept = await keptVolumes(cluster, options, signal);
    known.add(uid);
    for (const oldest of [...known].slice(0, -REMEMBERED)) known.delete(oldest);
    return kept;
  };
}

/**
 * What is to be said of a cluster's volumes before its credential is revoked; undefined: there are none. They are the
 * tenant's data and remain, as in Magnum. A cloud that does not respond does not hold the deletion up.
 */
async function keptVolumes(
  cluster: MagnumCluster,
  { read, log }: { readonly read: ReadVolumes; readonly log: Log },
  signal: AbortSignal,
): Promise<PlannedEvent | undefined> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE)]);
  try {
    const ids = await read(cluster, within);
    if (ids.length === 0) return undefined;
    log.info("volumes of a deleted cluster's claims remain in its project", { ...keyOf(cluster), volumes: ids });
    return {
      type: "Normal",
      reason: "VolumesKept",
      message: `${ids.length} volumes of claims of cluster ${cluster.spec.name} remain in project ${cluster.spec.projectID}: ${shortList(ids, NAMED)}`,
    };
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn("it is not known whether volumes of a deleted cluster remain", {
      ...keyOf(cluster),
      error: messageOf(error),
    });
    return undefined;
  }
}
