import type { Clock } from "@causeway/foundation";
import { isForbidden, isOpenStackNotFound } from "@causeway/openstack";
import type { StorageCloud } from "../clouds.ts";
import type { Backends } from "./plan-capacity.ts";

/**
 * Milliseconds that what was read is used: csi-provisioner requests the capacity of each class and zone again and
 * again.
 */
const KEEP = 5 * 60_000;

interface Read {
  readonly limits: Readonly<Record<string, number>>;
  readonly backends: Backends | undefined;
}

/** The quota and the pools of a cloud, read together at most once in five minutes, whatever the number of calls. */
export class CapacityReads {
  readonly #storage: StorageCloud;
  readonly #clock: Clock;
  #kept: { readonly at: number; readonly read: Promise<Read> } | undefined;
  /**
   * Whether the user may read pools is decided by the first call: the policy of a cloud does not change while the
   * driver runs.
   */
  #isRefused = false;

  constructor(storage: StorageCloud, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  async read(): Promise<Read> {
    if (this.#kept === undefined || this.#clock.now() - this.#kept.at > KEEP)
      this.#kept = { at: this.#clock.now(), read: this.#all() };
    try {
      return await this.#kept.read;
    } catch (error) {
      this.#kept = undefined;
      throw error;
    }
  }

  async #all(): Promise<Read> {
    const limits = await this.#storage.cloud.blockStorage.limits();
    return { limits, backends: this.#isRefused ? undefined : await this.#backends() };
  }

  async #backends(): Promise<Backends | undefined> {
    const { blockStorage } = this.#storage.cloud;
    try {
      const pools = await blockStorage.pools();
      const [types, services] = [await blockStorage.volumeTypes.all(), await blockStorage.services()];
      return { pools, types, zones: new Map(services.map(({ host, zone }) => [host, zone])) };
    } catch (error) {
      if (!isForbidden(error) && !isOpenStackNotFound(error)) throw error;
      this.#isRefused = true;
      return undefined;
    }
  }
}
