import { CausewayError } from "@causeway/foundation";
import type { Cloud, CloudInformer, Volume } from "@causeway/openstack";

/** [BlockStorage] of cloud.conf, as far as the controller reads it. */
export interface BlockStorageOptions {
  readonly ignoreVolumeAz?: boolean;
  readonly ignoreVolumeMicroversion?: boolean;
}

/** One cloud that volumes are created in. */
export interface StorageCloud {
  /** "": the default, `[Global]` without a name. */
  readonly name: string;
  readonly cloud: Pick<Cloud, "blockStorage" | "compute">;
  readonly volumes: CloudInformer<Volume>;
  readonly options: BlockStorageOptions;
}

/** The clouds of the configuration; a call's Secret has the name of its cloud under `cloud`. */
export class Clouds {
  readonly #byName: ReadonlyMap<string, StorageCloud>;

  constructor(clouds: readonly StorageCloud[]) {
    this.#byName = new Map(clouds.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map((cloud) => [cloud.name, cloud]));
  }

  /** In the order of their names. */
  get all(): readonly StorageCloud[] {
    return [...this.#byName.values()];
  }

  named(name: string): StorageCloud | undefined {
    return this.#byName.get(name);
  }

  /** Throws CSI_INVALID_ARGUMENT. */
  of(secrets: Readonly<Record<string, string>>): StorageCloud {
    const name = secrets["cloud"] ?? "";
    const found = this.#byName.get(name);
    if (found) return found;
    throw new CausewayError("CSI_INVALID_ARGUMENT", `The Secret names cloud "${name}", which is not configured.`, {
      hint: 'Add a section [Global "NAME"] to cloud.conf and its name to --cloud-name.',
    });
  }
}
