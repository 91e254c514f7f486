/** Fields that services bump without anything else being different. */
const MARKS = new Set(["updated", "updated_at", "revision_number"]);

/** Lists whose order means something; all others are sets to the services that send them. */
const ORDERED = new Set(["dns_nameservers"]);

type Fields = Readonly<Record<string, unknown>>;
const NONE: ReadonlySet<string> = new Set();

/**
 * True if both say the same about a resource, the order of sets apart; time stamps and revision numbers count only if
 * they are to.
 */
export function sameResource(a: object, b: object, marksCount = false): boolean {
  return sameFields(a as Fields, b as Fields, marksCount ? NONE : MARKS);
}

function sameFields(a: Fields, b: Fields, ignored: ReadonlySet<string>): boolean {
  for (const key of Object.keys(a)) {
    if (!ignored.has(key) && !same(a[key], b[key], ORDERED.has(key))) return false;
  }
  for (const key of Object.keys(b)) {
    if (!ignored.has(key) && b[key] !== undefined && a[key] === undefined) return false;
  }
  return true;
}

function same(a: unknown, b: unknown, ordered: boolean): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (!Array.isArray(a) || !Array.isArray(b)) return sameFields(a as Fields, b as Fields, NONE);
  if (a.length !== b.length) return false;
  if (a.every((element, i) => same(element, b[i], false))) return true;
  return !ordered && sameAsSets(a, b);
}

function sameAsSets(a: readonly unknown[], b: readonly unknown[]): boolean {
  const rest = [...b];
  return a.every((element) => {
    const at = rest.findIndex((other) => same(element, other, false));
    if (at >= 0) rest.splice(at, 1);
    return at >= 0;
  });
}
