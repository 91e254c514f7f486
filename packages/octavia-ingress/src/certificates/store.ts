import { unlessAborted, type Clock } from "@causeway/foundation";
import type { Cloud } from "@causeway/openstack";

/** A secret in the key manager. */
export interface StoredCertificate {
  readonly ref: string;
  readonly name: string;
}

/** The list is read again after this long (ms), when it is needed. */
const FRESH = 3_600_000;

/**
 * The secrets of the project whose names begin as ours do. One list serves all load balancers; writes of ours are added
 * to it. After a write whose outcome is not known it is read again.
 */
export class CertificateStore {
  readonly #cloud: Cloud;
  readonly #clock: Clock;
  readonly #prefixes: readonly string[];
  #read: { readonly at: number; readonly list: Promise<StoredCertificate[]> } | undefined;
  #known: StoredCertificate[] = [];
  #readOnce = false;

  constructor(cloud: Cloud, clock: Clock, prefixes: readonly string[]) {
    this.#cloud = cloud;
    this.#clock = clock;
    this.#prefixes = prefixes;
  }

  /** False: the cloud has no key manager. */
  exists(signal: AbortSignal): Promise<boolean> {
    return this.#cloud.has("key-manager", { signal });
  }

  /**
   * Those that are ours, for an owner that wants none: it may have some from before. One list for each process is
   * enough for that, and a key manager that fails hinders nothing.
   */
  async left(signal: AbortSignal): Promise<readonly StoredCertificate[]> {
    if (!this.#readOnce) await this.all(signal).catch(() => signal.throwIfAborted());
    return this.#known;
  }

  /** Those that are ours, the oldest first; none where there is no key manager. Many callers wait for one list. */
  async all(signal: AbortSignal): Promise<readonly StoredCertificate[]> {
    if (!(await this.exists(signal))) return [];
    const now = this.#clock.now();
    if (!this.#read || now - this.#read.at > FRESH) {
      const list = this.#list();
      this.#read = { at: now, list };
      list.then(
        (found) => {
          this.#known = found;
          this.#readOnce = true;
        },
        () => this.forget(),
      );
    }
    await unlessAborted(this.#read.list, signal);
    return this.#known;
  }

  async #list(): Promise<StoredCertificate[]> {
    const secrets = await this.#cloud.keyManager.secrets.all({ limit: 100 });
    return secrets
      .filter(({ name }) => this.#prefixes.some((prefix) => name?.startsWith(prefix) === true))
      .sort((a, b) => (a.created < b.created ? -1 : 1))
      .map(({ secret_ref, name }) => ({ ref: secret_ref, name: name ?? "" }));
  }

  /** As upstream stores it. */
  async create(name: string, pkcs12: Buffer, signal: AbortSignal): Promise<void> {
    try {
      const ref = await this.#cloud.keyManager.secrets.create(
        {
          name,
          secret_type: "opaque",
          algorithm: "aes",
          mode: "cbc",
          bit_length: 256,
          payload: pkcs12.toString("base64"),
          payload_content_type: "application/octet-stream",
          payload_content_encoding: "base64",
        },
        { signal },
      );
      this.#known = [...this.#known, { ref, name }];
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  async delete(ref: string, signal: AbortSignal): Promise<void> {
    await this.#cloud.keyManager.secrets.delete(ref, { signal });
    this.#known = this.#known.filter((each) => each.ref !== ref);
  }

  /** What was read is old. */
  forget(): void {
    this.#read = undefined;
    this.#readOnce = false;
  }
}
