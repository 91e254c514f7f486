import { keyError, type Secret } from "../model.ts";

const refused = () => keyError(400, "Bad Request", "URI provided invalid query string parameters.");

/**
 * The secrets that a list's query means, in its order. Throws Barbican's 400 for dates and orders that it does not
 * have.
 */
export function filteredSecrets(secrets: readonly Secret[], query: URLSearchParams): readonly Secret[] {
  const text = (name: string) => query.get(name) ?? "";
  const bits = /^\d+$/.test(text("bits")) ? Number(text("bits")) : 0;
  const dates = (["created", "updated", "expiration"] as const).map((name) => [name, rangeOf(text(name))] as const);
  const orders = ordersOf(text("sort"));
  const found = secrets.filter(
    (secret) =>
      isLike(secret.name, text("name")) &&
      isLike(secret.algorithm, text("alg")) &&
      isLike(secret.mode, text("mode")) &&
      (bits === 0 || secret.bit_length === bits) &&
      (text("secret_type") === "" || secret.secret_type === text("secret_type")) &&
      dates.every(([name, tests]) => tests.every((test) => test(instant(secret[name])))),
  );
  return orders.length === 0 ? found : found.toSorted((a, b) => compared(a, b, orders));
}

const instant = (text: string | null): number => (text === null ? Number.NaN : Date.parse(`${text}Z`));

const comparisons: Readonly<Record<string, (has: number, asked: number) => boolean>> = {
  gt: (has, asked) => has > asked,
  gte: (has, asked) => has >= asked,
  lt: (has, asked) => has < asked,
  lte: (has, asked) => has <= asked,
  eq: (has, asked) => has === asked,
};
/** What each comparison cannot be combined with. */
const excluded: Readonly<Record<string, readonly string[]>> = {
  gt: ["gt", "gte"],
  gte: ["gt", "gte", "eq"],
  lt: ["lt", "lte"],
  lte: ["lt", "lte", "eq"],
  eq: ["eq", "gte", "lte"],
};

/** Tests of a filter like "gt:2026-01-01T00:00:00,lte:2027-01-01T00:00:00"; none for "". */
function rangeOf(filter: string): readonly ((has: number) => boolean)[] {
  const used: string[] = [];
  return (filter === "" ? [] : filter.split(",")).map((part) => {
    const [, name = "eq", date = ""] = /^(?:(gte?|lte?):)?(.*)$/s.exec(part) ?? [];
    const asked = /^\d{4}-\d\d-\d\d/.test(date)
      ? Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(date) ? date : `${date}Z`)
      : Number.NaN;
    if (Number.isNaN(asked) || used.some((other) => excluded[name]?.includes(other))) throw refused();
    used.push(name);
    return (has) => comparisons[name]?.(has, asked) ?? false;
  });
}

const sortable = [
  "algorithm",
  "bit_length",
  "created",
  "expiration",
  "mode",
  "name",
  "secret_type",
  "status",
  "updated",
];
type Order = readonly [key: string, direction: string];

function ordersOf(sort: string): readonly Order[] {
  const orders = (sort === "" ? [] : sort.split(",")).map((part): Order => {
    const [key = "", direction = "asc", ...more] = part.split(":");
    if (more.length > 0 || !sortable.includes(key) || !["asc", "desc"].includes(direction)) throw refused();
    return [key, direction];
  });
  if (new Set(orders.map(([key]) => key)).size < orders.length) throw refused();
  return orders;
}

function compared(a: Secret, b: Secret, orders: readonly Order[]): number {
  for (const [key, direction] of orders) {
    const [left, right] = [a[key as keyof Secret], b[key as keyof Secret]];
    if (left === right) continue;
    // MySQL puts what is not there first.
    const less = left === null || (right !== null && (left ?? "") < (right ?? ""));
    return less === (direction === "asc") ? -1 : 1;
  }
  return 0;
}

/**
 * SQL's LIKE without regard to case; true for the empty pattern, which filters nothing. Linear in text times pattern.
 */
export function isLike(value: string | null, like: string): boolean {
  if (like === "") return true;
  if (value === null) return false;
  const [text, pattern] = [value.toLowerCase(), like.toLowerCase()];
  let [at, place, star, mark] = [0, 0, -1, 0];
  while (at < text.length) {
    if (pattern[place] === "%") [star, mark, place] = [place, at, place + 1];
    else if (pattern[place] === "_" || pattern[place] === text[at]) [at, place] = [at + 1, place + 1];
    else if (star >= 0) [place, mark, at] = [star + 1, mark + 1, mark + 1];
    else return false;
  }
  while (pattern[place] === "%") place++;
  return place === pattern.length;
}
