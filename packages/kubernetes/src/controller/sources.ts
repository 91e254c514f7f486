import type { Change, Informer, Unsubscribe } from "../cache/interface.ts";
import type { KubeObject, ObjectKey } from "../types/meta.ts";
import { controllerOf, keyOf } from "../types/identity.ts";
import type { Source } from "./interface.ts";

/** The keys to reconcile when an informer's object changes: by default the object's own. */
export function watchInformer<T extends KubeObject>(
  informer: Informer<T>,
  map: (change: Change<T>) => readonly ObjectKey[] = ({ object }) => [keyOf(object)],
): Source {
  return watchWith((handler: (change: Change<T>) => void) => informer.onChange(handler), map);
}

/**
 * The key of the controlling owner of each object that changes, if it is of `ownerKind`; also of the owner that
 * an object has just lost.
 */
export function watchOwner<T extends KubeObject>(informer: Informer<T>, ownerKind: string): Source {
  const ownerKey = (object: T | undefined): ObjectKey[] => {
    const owner = object && controllerOf(object);
    if (!object || owner?.kind !== ownerKind) return [];
    return [{ namespace: object.metadata.namespace ?? "", name: owner.name }];
  };
  return watchInformer(informer, ({ object, previous }) => {
    const now = ownerKey(object);
    const before = ownerKey(previous);
    return before[0] && before[0].name !== now[0]?.name ? [...now, ...before] : now;
  });
}

/** Milliseconds in which changes of objects that a summary is made of are collected, and for each of them more. */
const COLLECTED = 100;
const COLLECTED_OF_EACH = 1;
const COLLECTED_AT_MOST = 3_000;

/**
 * A source whose keys wait a tenth of a second, for objects that sum up many others: changes that come together, such
 * as those of machines that start together, are one reconcile and one status. `members` says how many objects a key
 * sums up: to read a thousand again after each of their changes is to read a million, so that keys wait a millisecond
 * more for each, and three seconds at most.
 */
export function collected(source: Source, members: (key: ObjectKey) => number = () => 0): Source {
  return (enqueue) =>
    source((key) => enqueue(key, Math.min(COLLECTED + COLLECTED_OF_EACH * members(key), COLLECTED_AT_MOST)));
}

/** A source from anything that can be subscribed to: `map` names the keys that a value concerns. */
export function watchWith<V>(
  subscribe: (handler: (value: V) => void) => Unsubscribe,
  map: (value: V) => readonly ObjectKey[],
): Source {
  return (enqueue) =>
    subscribe((value) => {
      for (const key of map(value)) enqueue(key);
    });
}
