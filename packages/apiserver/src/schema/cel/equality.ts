/** Whether CEL holds two values for equal: numbers by their value, lists and maps by what is in them. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return Number(a) === Number(b) && (typeof a === typeof b || a == b);
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]));
  const [left, right] = [entries(a), entries(b)];
  if (left && right)
    return left.size === right.size && [...left].every(([k, v]) => right.has(k) && equal(v, right.get(k)));
  return typeof a === "object" && typeof b === "object" && a !== null && b !== null && sameValue(a, b);
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

function entries(value: unknown): ReadonlyMap<unknown, unknown> | undefined {
  if (value instanceof Map) return value;
  const plain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return plain ? new Map(Object.entries(value)) : undefined;
}

/** Times, durations and Kubernetes' own values. */
function sameValue(a: object, b: object): boolean {
  if (a.constructor !== b.constructor) return false;
  return JSON.stringify(a, plainly) === JSON.stringify(b, plainly);
}

function plainly(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}
