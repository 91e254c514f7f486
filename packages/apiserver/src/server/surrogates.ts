const ESCAPED = /\\u[dD][89a-fA-F]/;

/** Whether a JSON text may have halves of surrogate pairs: only escapes make them, since bytes were read as UTF-8. */
export function mayHaveSurrogates(text: string): boolean {
  return ESCAPED.test(text);
}

/** The value with U+FFFD in the place of each lone half of a surrogate pair, in keys too, as Go's decoder reads it. */
export function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  const open: object[] = [value];
  for (let container = open.pop(); container; container = open.pop()) {
    for (const [key, child] of Object.entries(container)) {
      const next: unknown = typeof child === "string" ? child.toWellFormed() : child;
      const name = key.toWellFormed();
      if (name !== key) Reflect.deleteProperty(container, key);
      if (name !== key || next !== child) define(container, name, next);
      if (typeof next === "object" && next !== null) open.push(next);
    }
  }
  return value;
}

/** Sets a member; right for "__proto__" too. */
function define(container: object, name: string, value: unknown): void {
  Object.defineProperty(container, name, { value, writable: true, enumerable: true, configurable: true });
}
