import { isJson, put, take, valueAt, type Json } from "./json.ts";

/**
 * One difference between two versions of a kind, as two functions that change an object in place: `up` to the stored
 * version, `down` to the other. A field that one version cannot say may be dropped: `lossless` keeps it.
 */
export interface Lens {
  readonly up: (json: Json, context: Context) => void;
  readonly down: (json: Json, context: Context) => void;
}

/** What a lens may use of the object that it is a part of. */
export interface Context {
  readonly namespace: string | undefined;
}

/** Applies lenses in order, and back in reverse order. */
export function all(...lenses: readonly Lens[]): Lens {
  const reversed = [...lenses].toReversed();
  return {
    up: (json, context) => lenses.forEach((lens) => lens.up(json, context)),
    down: (json, context) => reversed.forEach((lens) => lens.down(json, context)),
  };
}

/** The older version has the field at `older`, the stored one at `newer`, with equal values. */
export function moved(older: string, newer: string): Lens {
  return {
    up: (json) => put(json, newer, take(json, older)),
    down: (json) => put(json, older, take(json, newer)),
  };
}

/** As `moved`, with other values. Undefined values are not converted. */
export function converted(
  older: string,
  newer: string,
  by: { up(value: unknown, context: Context): unknown; down(value: unknown, context: Context): unknown },
): Lens {
  return {
    up: (json, context) => transfer(json, { from: older, to: newer }, (value) => by.up(value, context)),
    down: (json, context) => transfer(json, { from: newer, to: older }, (value) => by.down(value, context)),
  };
}

function transfer(json: Json, { from, to }: { from: string; to: string }, convert: (value: unknown) => unknown): void {
  const value = from === to ? valueAt(json, from) : take(json, from);
  if (value !== undefined && value !== null) put(json, to, convert(value));
}

/** Lenses on the object at a path. */
export function within(path: string, ...lenses: readonly Lens[]): Lens {
  const inner = all(...lenses);
  const apply = (json: Json, change: (inner: Json) => void) => {
    const value = valueAt(json, path);
    if (!isJson(value)) return;
    change(value);
    if (Object.keys(value).length === 0) take(json, path);
  };
  return {
    up: (json, context) => apply(json, (value) => inner.up(value, context)),
    down: (json, context) => apply(json, (value) => inner.down(value, context)),
  };
}

/** Lenses on every object of the list at a path. */
export function each(path: string, ...lenses: readonly Lens[]): Lens {
  const inner = all(...lenses);
  const apply = (json: Json, change: (inner: Json) => void) => {
    const value = valueAt(json, path);
    if (Array.isArray(value)) value.filter(isJson).forEach(change);
  };
  return {
    up: (json, context) => apply(json, (item) => inner.up(item, context)),
    down: (json, context) => apply(json, (item) => inner.down(item, context)),
  };
}

/** Fields that only the older version has. */
export function onlyOlder(...paths: readonly string[]): Lens {
  return { up: (json) => paths.forEach((path) => take(json, path)), down: () => {} };
}

/** Fields that only the stored version has. */
export function onlyNewer(...paths: readonly string[]): Lens {
  return { up: () => {}, down: (json) => paths.forEach((path) => take(json, path)) };
}
