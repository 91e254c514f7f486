import { MATCHES } from "./strings.ts";

/**
 * What calls cost in addition to their arguments: those that build a value of a type of its own take far longer than a
 * step of evaluating. In units of about 200 ns, measured, so that an object's budget is some two seconds whatever its
 * rules call: without them, 10 million units of time zones would be a minute and a half.
 */
const CALLS: ReadonlyMap<string, number> = new Map([
  ...["ip"].map((name) => [name, 60] as const),
  ...["cidr", "containsIP", "containsCIDR", "masked", "findAll"].map((name) => [name, 30] as const),
  ...["int", "uint", "url"].map((name) => [name, 25] as const),
  ...["quantity", "semver", "duration", "timestamp", "isIP", "isCIDR", "isURL", "isCanonical", "ip.isCanonical"].map(
    (name) => [name, 10] as const,
  ),
  ...[MATCHES, "matches", "find", "replace", "split", "isQuantity", "isSemver", "validate"].map(
    (name) => [name, 4] as const,
  ),
]);

const ZONED: ReadonlySet<string> = new Set([
  "getDate",
  "getDayOfMonth",
  "getDayOfWeek",
  "getDayOfYear",
  "getFullYear",
  "getHours",
  "getMilliseconds",
  "getMinutes",
  "getMonth",
  "getSeconds",
]);
/** A time in a zone is looked up in the tables of zones. */
const ZONE = 400;

/** The fixed price of a call, by its name and the number of its arguments. */
export function callCost(name: string, args: number): number {
  return ZONED.has(name) && args > 0 ? ZONE : (CALLS.get(name) ?? 0);
}
