import {
  type CSIDriver,
  type Informer,
  type KubernetesClient,
  type ObjectKey,
  type StorageClass,
} from "@causeway/kubernetes";
import { messageOf, type Log } from "@causeway/foundation";
import { callOptions, type SidecarDriver } from "../context.ts";
import { PREFIX } from "../names.ts";
import { segmentsOfDriver, type TopologyCaches } from "../provision/topology.ts";
import { CSIStorageCapacity, DRIVER_LABEL, hasCapacity, MANAGED_BY_LABEL, MANAGER, NAMESPACE } from "./object.ts";

/** One class in one topology segment. */
export interface Place {
  readonly className: string;
  readonly segments: Readonly<Record<string, string>>;
  /** What the driver says; undefined: it could not be read now. */
  readonly capacity: { readonly available: bigint; readonly largest: bigint | undefined } | undefined;
}

/** The capacity of each place as the driver reports it, and the objects that publish the last one. */
export interface Observed {
  readonly driver: string;
  readonly places: readonly Place[];
  readonly existing: readonly CSIStorageCapacity[];
}

/** The informers that capacities are gathered from. */
export interface Caches extends TopologyCaches {
  readonly driver: SidecarDriver;
  readonly client: KubernetesClient;
  readonly drivers: Informer<CSIDriver>;
  readonly classes: Informer<StorageClass>;
  readonly log: Log;
}

/** Of one cluster: each costs the driver a call a minute. */
const MOST_PLACES = 200;

/** Nothing is read, in the cloud or the cluster, unless the CSIDriver has storageCapacity. */
export async function gather(caches: Caches, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const { client, driver, drivers, classes, log } = caches;
  const object = drivers.get({ namespace: "", name: driver.name });
  if (key.name !== driver.name || !object || !hasCapacity(object)) return undefined;
  const segments = driver.withTopology === true ? segmentsOfDriver(caches, driver.name) : [{}];
  // A class whose volumes are bound at once is not scheduled by capacity.
  const all = classes
    .list()
    .filter(
      ({ provisioner, volumeBindingMode: mode }) => provisioner === driver.name && mode === "WaitForFirstConsumer",
    )
    .flatMap((storageClass) => segments.map((each) => ({ storageClass, segments: each })))
    .toSorted((a, b) => (a.storageClass.metadata.name < b.storageClass.metadata.name ? -1 : 1));
  if (all.length > MOST_PLACES)
    log.warn("the capacities of some classes and zones are not published", { count: all.length, most: MOST_PLACES });
  const labelSelector = `${DRIVER_LABEL}=${driver.name},${MANAGED_BY_LABEL}=${MANAGER}`;
  const { items } = await client.list(CSIStorageCapacity, { namespace: NAMESPACE, labelSelector, signal });
  const places = await Promise.all(all.slice(0, MOST_PLACES).map((each) => placeOf(caches, each, signal)));
  return { driver: driver.name, places, existing: items };
}

async function placeOf(
  { driver, log }: Caches,
  { storageClass, segments }: { readonly storageClass: StorageClass; readonly segments: Record<string, string> },
  signal: AbortSignal,
): Promise<Place> {
  const className = storageClass.metadata.name;
  const own = Object.entries(storageClass.parameters ?? {}).filter(([key]) => !key.startsWith(PREFIX));
  const accessibleTopology = Object.keys(segments).length > 0 ? { segments } : undefined;
  const request = { parameters: Object.fromEntries(own), ...(accessibleTopology && { accessibleTopology }) };
  try {
    const answer = await driver.controller.getCapacity(request, callOptions(signal));
    const largest = answer.maximumVolumeSize;
    return { className, segments, capacity: { available: answer.availableCapacity, largest } };
  } catch (error) {
    signal.throwIfAborted();
    log.warn("the capacity of a StorageClass cannot be read", { storageClass: className, error: messageOf(error) });
    return { className, segments, capacity: undefined };
  }
}
