import { unlessAborted, type Clock } from "@causeway/foundation";
import { isForbidden, isOpenStackNotFound, type Cloud } from "@causeway/openstack";

/** What the cloud's Octavia is, whatever load balancers there are. */
export interface OctaviaFacts {
  /** The newest API version it serves; undefined: it does not report one. */
  readonly version: string | undefined;
  /** Names of its providers; empty where the list is not permitted. */
  readonly providers: readonly string[];
}

/** A cloud may be upgraded while we run: what it is, is read again after this long (ms). */
const fresh = 3_600_000;

/**
 * Two calls an hour for a whole cloud. What cannot be read is an error of the reconcile that needs it, and read again
 * by the next.
 */
export class OctaviaReader {
  readonly #cloud: Cloud;
  readonly #clock: Clock;
  #read: { readonly at: number; readonly facts: Promise<OctaviaFacts> } | undefined;

  constructor(cloud: Cloud, clock: Clock) {
    this.#cloud = cloud;
    this.#clock = clock;
  }

  /** Concurrent callers share one request; a caller whose signal aborts stops waiting. */
  facts(signal: AbortSignal): Promise<OctaviaFacts> {
    const now = this.#clock.now();
    if (!this.#read || now - this.#read.at > fresh) {
      const facts = this.#ask();
      this.#read = { at: now, facts };
      facts.catch(() => {
        if (this.#read?.facts === facts) this.#read = undefined;
      });
    }
    return unlessAborted(this.#read.facts, signal);
  }

  async #ask(): Promise<OctaviaFacts> {
    const { loadBalancing } = this.#cloud;
    const [versions, providers] = await Promise.all([versionsOf(this.#cloud), loadBalancing.providers.all()]);
    return { version: newestOf(versions), providers: providers.map((p) => p.name) };
  }
}

/** None where a gateway hides the list. */
async function versionsOf(cloud: Cloud): Promise<string[]> {
  try {
    const description = await cloud.describe("load-balancer");
    return description?.versions.map(({ id }) => id.replace(/^v/, "")) ?? [];
  } catch (error) {
    if (isOpenStackNotFound(error) || isForbidden(error)) return [];
    throw error;
  }
}

/** The list is in no order that is promised. */
function newestOf(versions: readonly string[]): string | undefined {
  return versions.reduce<string | undefined>(
    (newest, version) => (newest === undefined || isAtLeast(version, newest) ? version : newest),
    undefined,
  );
}

/** "2.12" is at least "2.5". */
export function isAtLeast(version: string, wanted: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = wanted.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}
