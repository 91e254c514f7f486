import { CausewayError, hasCode, messageOf, type Clock, type Log } from "@causeway/foundation";
import { isFresh, isKeyId, survivesOutage, type HeldKey, type KeyRules } from "./plan-key.ts";

export interface KeysOptions extends Partial<KeyRules> {
  /** Reads the payload of a secret. */
  readonly read: (id: string, signal?: AbortSignal) => Promise<Uint8Array>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The keys of Barbican's secrets, by id. */
export interface Keys {
  /** @throws KMS_KEY_INVALID, KMS_KEY_NOT_FOUND, KMS_UNAVAILABLE */
  get(id: string): Promise<Uint8Array>;
}

const HOUR = 3_600_000;
/** Of old keys, those that were used last. */
const MOST_KEYS = 100;
const LENGTHS = [16, 24, 32];
/** Milliseconds that a call waits for a key which is held: kube-apiserver gives up after three seconds. */
const PATIENCE = 1_000;
/** Milliseconds for which a held key is used at once after Barbican could not be reached. */
const PAUSE = 10_000;

/** Keeps keys in memory for a lifetime, with one request for a key at a time; longer while Barbican is away. */
export function createKeys({ read, clock, log, lifetime = HOUR, outage = 24 * HOUR }: KeysOptions): Keys {
  const rules = { lifetime, outage };
  const held = new Map<string, HeldKey>();
  const reading = new Map<string, Promise<Uint8Array>>();
  const failed = new Map<string, number>();

  const fetched = async (id: string): Promise<Uint8Array> => {
    try {
      const key = await read(id);
      if (!LENGTHS.includes(key.length)) {
        throw new CausewayError(
          "KMS_KEY_INVALID",
          `The secret ${id} in Barbican has ${key.length} bytes, not 16, 24 or 32.`,
          {
            hint: "Create a symmetric secret of 256 bits: `openstack secret order create key --algorithm aes --bit-length 256`.",
          },
        );
      }
      held.delete(id);
      held.set(id, { key, read: clock.now() });
      failed.delete(id);
      const [oldest] = held.keys();
      if (held.size > MOST_KEYS && oldest !== undefined) held.delete(oldest);
      return key;
    } catch (error) {
      if (hasCode(error, "KMS_KEY_INVALID")) throw error;
      if (isFinal(error)) {
        held.delete(id);
        throw notFound(id, error);
      }
      const last = held.get(id);
      log.warn("Barbican cannot be reached", { keyId: id, error: messageOf(error), cached: last !== undefined });
      if (survivesOutage(last, clock.now(), rules)) {
        failed.set(id, clock.now());
        return last.key;
      }
      failed.delete(id);
      throw new CausewayError("KMS_UNAVAILABLE", `Barbican cannot be reached, and the key ${id} is not held.`, {
        cause: error,
        hint: "See that Keystone and Barbican are up and reachable from here.",
      });
    }
  };

  const refreshed = (id: string): Promise<Uint8Array> => {
    const underWay = reading.get(id);
    if (underWay !== undefined) return underWay;
    const work = fetched(id).finally(() => reading.delete(id));
    reading.set(id, work);
    return work;
  };

  return {
    async get(id) {
      if (!isKeyId(id)) throw notFound("of data", undefined);
      const known = held.get(id);
      const now = clock.now();
      if (known !== undefined && isFresh(known, now, rules)) return known.key;
      if (!survivesOutage(known, now, rules)) return refreshed(id);
      if (now < (failed.get(id) ?? -PAUSE) + PAUSE) return known.key;
      return atMost(refreshed(id), known.key);
    },
  };

  /** The key that is read, or the held one when that takes too long; the reading goes on. */
  async function atMost(read: Promise<Uint8Array>, key: Uint8Array): Promise<Uint8Array> {
    const done = new AbortController();
    const late = clock.sleep(PATIENCE, done.signal).then(
      () => key,
      () => key,
    );
    try {
      return await Promise.race([read, late]);
    } finally {
      done.abort();
    }
  }
}

/** Barbican's own word that there is no such key for us. */
function isFinal(error: unknown): boolean {
  return (
    hasCode(error, "OPENSTACK_NOT_FOUND") || hasCode(error, "OPENSTACK_FORBIDDEN") || hasCode(error, "OPENSTACK_GONE")
  );
}

function notFound(id: string, cause: unknown): CausewayError {
  return new CausewayError("KMS_KEY_NOT_FOUND", `The secret ${id} is not in Barbican, or not for these credentials.`, {
    cause,
    hint: "Restore the secret: data that was encrypted with it cannot be read without it. See its ACL for another user's access.",
  });
}
