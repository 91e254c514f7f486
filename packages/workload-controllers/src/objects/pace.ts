import type { Clock } from "@causeway/foundation";
import type { ObjectKey, Reconcile } from "@causeway/kubernetes";

/** Milliseconds for each object that a reconcile counts. */
const EACH = 0.1;
const LONGEST = 1_000;

/**
 * Puts off a reconcile that follows its last one too soon, by a time that grows with the number of objects that it
 * counts: a thousand pods that become ready one after the other are counted ten times a second, not a thousand times.
 * `sizeOf` returns undefined for a key without an object.
 */
export function paced(
  reconcile: Reconcile,
  { clock, sizeOf }: { readonly clock: Clock; readonly sizeOf: (key: ObjectKey) => number | undefined },
): Reconcile {
  const last = new Map<string, number>();
  return async (key, signal) => {
    const id = `${key.namespace}/${key.name}`;
    const size = sizeOf(key);
    if (size === undefined) {
      last.delete(id);
      return reconcile(key, signal);
    }
    const pause = Math.min(LONGEST, Math.floor(size * EACH));
    const left = (last.get(id) ?? -Infinity) + pause - clock.now();
    // A clock that was set back is no reason to wait longer.
    if (left > 0 && left <= pause) return { after: left };
    const result = await reconcile(key, signal);
    last.set(id, clock.now());
    return result;
  };
}
