import { hasCode, messageOf, type Clock, type Log } from "@causeway/foundation";
import { checkOf } from "../cipher/plan-check.ts";
import { isFresh, isKeyId, survivesOutage, type HeldKey, type KeyRules } from "./plan-key.ts";
import { isFinal, lost, notFound, outcomeOf, problemOf, type ReadOutcome } from "./plan-reading.ts";

/** How keys are read, and how long they are kept: one hour, and 24 while Barbican is away, without rules. */
export interface KeysOptions extends Partial<KeyRules> {
  /** Reads the payload of a secret. */
  readonly read: (id: string, signal?: AbortSignal) => Promise<Uint8Array>;
  /** Called after each reading. */
  readonly onRead?: (outcome: ReadOutcome) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** The keys of Barbican's secrets, by id. */
export interface Keys {
  /** @throws KMS_KEY_CHANGED, KMS_KEY_INVALID, KMS_KEY_NOT_FOUND, KMS_UNAVAILABLE */
  get(id: string): Promise<Uint8Array>;
  /** That Barbican gave another key for this id than before, until it gives the held one again. */
  conflict(id: string): string | undefined;
}

const HOUR = 3_600_000;
/** Of old keys, those that were used last. */
const MOST_KEYS = 100;
/** Milliseconds that a call waits for a key which is held: kube-apiserver gives up after three seconds. */
const FETCH_TIMEOUT = 1_000;
/** Milliseconds for which a held key is used at once after it could not be read again. */
const PAUSE = 10_000;

/** Keeps keys in memory for a lifetime, with one request for a key at a time; longer while Barbican is away. */
export function createKeys(options: KeysOptions): Keys {
  const { read, onRead = () => {}, clock, log, lifetime = HOUR, outage = 24 * HOUR } = options;
  const rules = { lifetime, outage };
  const held = new Map<string, HeldKey>();
  const reading = new Map<string, Promise<Uint8Array>>();
  const failed = new Map<string, number>();
  /** Check values of all keys that were read, also of those that are no longer held. */
  const checks = new Map<string, Uint8Array>();
  /** Of held keys: Barbican responded once that it does not have them. */
  const gone = new Set<string>();
  const conflicts = new Map<string, string>();

  const fetched = async (id: string): Promise<Uint8Array> => {
    try {
      const key = await read(id);
      const check = checkOf(key);
      const problem = problemOf(id, { length: key.length, check }, checks.get(id));
      if (problem) throw problem;
      onRead("ok");
      keep(held, id, { key, read: clock.now() });
      keep(checks, id, check);
      for (const state of [failed, gone, conflicts]) state.delete(id);
      return key;
    } catch (error) {
      onRead(outcomeOf(error));
      return afterFailure(id, error);
    }
  };

  /** The held key, where it may be used in place of what came. */
  const afterFailure = (id: string, error: unknown): Uint8Array => {
    const [last, now] = [held.get(id), clock.now()];
    const isGone = isFinal(error);
    const isConfirmed = isGone && gone.has(id);
    if (hasCode(error, "KMS_KEY_CHANGED")) keep(conflicts, id, messageOf(error));
    if (survivesOutage(last, now, rules) && !isConfirmed) {
      const what = isGone ? "Barbican does not have a key; it is read again" : "a key cannot be read from Barbican";
      log.warn(`${what}: the cached key is used`, { keyId: id, error: messageOf(error) });
      if (isGone) gone.add(id);
      failed.set(id, now);
      return last.key;
    }
    log.warn("a key cannot be read from Barbican, and no cached key may be used", {
      keyId: id,
      error: messageOf(error),
    });
    if (isGone) {
      held.delete(id);
      conflicts.delete(id);
    }
    failed.delete(id);
    gone.delete(id);
    throw lost(id, error);
  };

  const refreshed = (id: string): Promise<Uint8Array> => {
    const underWay = reading.get(id);
    if (underWay !== undefined) return underWay;
    const work = fetched(id).finally(() => reading.delete(id));
    reading.set(id, work);
    return work;
  };

  return {
    conflict: (id) => conflicts.get(id),
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

  /** The key that is read, or the held one when that takes too long; the reading continues. */
  async function atMost(read: Promise<Uint8Array>, key: Uint8Array): Promise<Uint8Array> {
    const done = new AbortController();
    const late = clock.sleep(FETCH_TIMEOUT, done.signal).then(
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

/** As the one that was used last; the oldest makes room. */
function keep<T>(map: Map<string, T>, id: string, value: T): void {
  map.delete(id);
  map.set(id, value);
  const [oldest] = map.keys();
  if (map.size > MOST_KEYS && oldest !== undefined) map.delete(oldest);
}
