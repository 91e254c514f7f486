import type { Clock } from "@causeway/foundation";
import type { Cloud } from "@causeway/openstack";

/** A certificate that was there is believed to be there for this long (ms). */
const believed = 3_600_000;

/** Whether Barbican has what TLS is to end with: read once for each reference, and again while it is not there. */
export class Certificates {
  readonly #cloud: Cloud;
  readonly #clock: Clock;
  readonly #seen = new Map<string, number>();

  constructor(cloud: Cloud, clock: Clock) {
    this.#cloud = cloud;
    this.#clock = clock;
  }

  /** Why a load balancer could not use the reference; undefined when it can. */
  async problem(reference: string, signal: AbortSignal): Promise<string | undefined> {
    const now = this.#clock.now();
    if (now - (this.#seen.get(reference) ?? Number.NEGATIVE_INFINITY) < believed) return undefined;
    const kind = /\/(containers|secrets)\/[^/]+$/.exec(reference)?.[1];
    if (kind === undefined)
      return `default-tls-container-ref ${reference} is not a reference to a container or secret of the key manager`;
    if (!(await this.#cloud.has("key-manager", { signal }))) return "the cloud has no key manager (Barbican) for TLS";
    const { containers, secrets } = this.#cloud.keyManager;
    const found = await (kind === "containers" ? containers : secrets).find(reference, { signal });
    if (found === undefined) return `the key manager has no ${reference}`;
    this.#seen.set(reference, now);
    return undefined;
  }
}
