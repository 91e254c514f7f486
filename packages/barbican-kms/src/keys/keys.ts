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

/** Keeps keys in memory for a lifetime, with one request for a key at a time; longer while Barbican is away. */
export function createKeys({ read, clock, log, lifetime = HOUR, outage = 24 * HOUR }: KeysOptions): Keys {
  const rules = { lifetime, outage };
  const held = new Map<string, HeldKey>();
  const reading = new Map<string, Promise<Uint8Array>>();

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
      if (survivesOutage(last, clock.now(), rules)) return last.key;
      throw new CausewayError("KMS_UNAVAILABLE", `Barbican cannot be reached, and the key ${id} is not held.`, {
        cause: error,
        hint: "See that Keystone and Barbican are up and reachable from here.",
      });
    }
  };

  return {
    get(id) {
      if (!isKeyId(id)) return Promise.reject(notFound("of data", undefined));
      const known = held.get(id);
      if (known !== undefined && isFresh(known, clock.now(), rules)) return Promise.resolve(known.key);
      const underWay = reading.get(id);
      if (underWay !== undefined) return underWay;
      const work = fetched(id).finally(() => reading.delete(id));
      reading.set(id, work);
      return work;
    },
  };
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
