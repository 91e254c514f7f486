import type { CsiClient } from "@causeway/csi";
import type { Clock, Log } from "@causeway/foundation";
import type { EventRecorder, Informers, PersistentVolume, StorageClass } from "@causeway/kubernetes";

/** The CSI driver whose volumes are handled. */
export interface SidecarDriver {
  readonly name: string;
  readonly controller: CsiClient["controller"];
  /** It has group snapshots, and the cluster the CRDs for them. */
  readonly groupController?: CsiClient["groupController"];
  /** Of every call. Secrets that a StorageClass names are never read: credentials are not in the cluster. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Zones of nodes are given to CreateVolume (VOLUME_ACCESSIBILITY_CONSTRAINTS). */
  readonly withTopology?: boolean;
  /** It has SINGLE_NODE_MULTI_WRITER, so that ReadWriteOncePod is another access mode than ReadWriteOnce. */
  readonly singleNodeMultiWriter?: boolean;
  /** It has snapshots, and the cluster the CRDs for them. */
  readonly withSnapshots?: boolean;
  /** In-tree volumes and StorageClasses that the driver serves (CSI migration). */
  readonly migration?: Migration;
}

/** How objects of an in-tree plugin are read as those of the driver that took them over. */
export interface Migration {
  /** The provisioner's name in StorageClasses: "kubernetes.io/cinder". */
  readonly provisioner: string;
  storageClass(inTree: StorageClass): StorageClass;
  /** The volume with the driver's source; undefined: it is none of the in-tree driver's. */
  volume(inTree: PersistentVolume): PersistentVolume | undefined;
}

/** What the controllers of one cluster share. */
export interface Context {
  /** Of the cluster whose claims are served; its owner runs them. */
  readonly informers: Informers;
  readonly driver: SidecarDriver;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
}

/** What the controllers here call themselves in managedFields. */
export const fieldManager = "causeway-csi-sidecars";

/** Milliseconds of one call; the stock sidecars are deployed with three minutes. */
export const LONGEST_CALL = 180_000;

/** Calls of one controller at once; each waits for the storage service. */
export const CONCURRENCY = 100;

/** Options of each call of the driver: it ends after `LONGEST_CALL`, or with the signal. */
export const callOptions = (signal: AbortSignal) => ({ signal, timeoutMs: LONGEST_CALL });
