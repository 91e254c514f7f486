/** JSON objects, as conversions change them. */
export type Json = { [key: string]: unknown };

/** Whether a value is a JSON object; lists and null are not. */
export function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether two JSON values are equal; a field without value is no field. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (!isJson(a) || !isJson(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => equal(own(a, key), own(b, key)));
}

/** A field of the object itself, never one that every JavaScript object has. */
export function own(json: Json, key: string): unknown {
  return Object.hasOwn(json, key) ? json[key] : undefined;
}

/** The value at a path such as "spec.rollout.after". */
export function valueAt(json: Json, path: string): unknown {
  let value: unknown = json;
  for (const key of path.split(".")) value = isJson(value) ? own(value, key) : undefined;
  return value;
}

/** Sets the value at a path, and makes the objects on the way. Undefined changes nothing. */
export function put(json: Json, path: string, value: unknown): void {
  if (value === undefined) return;
  const keys = path.split(".");
  const last = keys.pop() ?? path;
  let at = json;
  for (const key of keys) {
    const next = own(at, key);
    at = isJson(next) ? next : ((at[key] = {}) as Json);
  }
  at[last] = value;
}

/** Removes and returns the value at a path, with the objects that are empty without it. */
export function take(json: Json, path: string): unknown {
  const dot = path.indexOf(".");
  const key = dot < 0 ? path : path.slice(0, dot);
  const value = own(json, key);
  if (dot < 0) {
    delete json[key];
    return value;
  }
  if (!isJson(value)) return undefined;
  const taken = take(value, path.slice(dot + 1));
  if (Object.keys(value).length === 0) delete json[key];
  return taken;
}
