import type { Random } from "./random.ts";
import type { Tree } from "./objects.ts";

const SHORT: readonly string[] = [
  "",
  " ",
  "a",
  "*",
  "../..",
  "%2e%2e",
  "null",
  "true",
  "0x10",
  "1e999",
  "-0",
  "NaN",
  "2026-01-01T00:00:00Z",
  "9999-99-99T99:99:99Z",
  "10.0.0.0/99",
  "::ffff:1.2.3.4",
  "1Ei",
  "1e1000000",
  "0.0000000000000000001n",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "metadata.name",
  "$patch",
  "\u0000",
  "\ud800",
  "\udfff\ud800",
  "\u2028",
  "é".normalize("NFD"),
  "🙂",
  "\r\n",
  "<&>",
  "a/b/c",
  "kubernetes.io/a",
  "${jndi}",
  "{{ . }}",
  "$(A)$(B)",
  "(a+)+$",
];

export function hostileText(random: Random): string {
  const short = random.pick(SHORT);
  if (random.chance(0.7)) return short;
  const unit = random.pick([
    "a",
    "a-",
    "A",
    "/",
    ".",
    ",",
    "=",
    "a.",
    "\\",
    '"',
    "\u0001",
    "é",
    "\ud800",
    "🙂",
    " ",
    "%",
    "$(A)",
  ]);
  return unit.repeat(random.size(200_000)) + (random.chance(0.5) ? short : "");
}

export function hostileNumber(random: Random): number {
  return random.pick([0, -1, 1, 0.1, 1e21, -1e21, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 63), 2 ** 64, 1e308, 5e-324]);
}

/** A small random value of any type. */
export function anyValue(random: Random, depth = 3): unknown {
  const leaf = depth <= 0 || random.chance(0.6);
  if (leaf) {
    return random.pick([
      () => null,
      () => true,
      () => hostileNumber(random),
      () => random.below(10),
      () => random.word(),
      () => hostileText(random),
    ])();
  }
  const size = random.below(4);
  if (random.chance(0.4)) return Array.from({ length: size }, () => anyValue(random, depth - 1));
  return Object.fromEntries(
    Array.from({ length: size }, () => [
      random.chance(0.8) ? random.word() : hostileText(random),
      anyValue(random, depth - 1),
    ]),
  );
}

/** Shapes of JSON text that are known to hurt parsers and validators. */
const SHAPES: Readonly<Record<string, (random: Random, size: number) => string>> = {
  deepArray: (_, n) => "[".repeat(n) + "]".repeat(n),
  openArray: (_, n) => "[".repeat(n),
  deepObject: (_, n) => '{"a":'.repeat(n) + "1" + "}".repeat(n),
  openObject: (_, n) => '{"a":'.repeat(n),
  manyKeys: (_, n) => `{${list(n, (i) => `"k${i}":${i}`)}}`,
  emptyKeys: (_, n) => `{${list(n, () => '"":1')}}`,
  duplicateKeys: (random, n) => `{${list(n, () => `"${random.word(2)}":1`)}}`,
  duplicateDeep: (_, n) => `{${list(n, () => '"a":{"b":{"c":1,"c":2}}')}}`,
  numericKeys: (_, n) => `{${list(n, (i) => `"${(n - i) * 7}":0`)}}`,
  hugeNumber: (_, n) => "9".repeat(n),
  hugeFraction: (_, n) => `0.${"1".repeat(n)}`,
  hugeExponent: (_, n) => `1e${"9".repeat(n)}`,
  escapes: (_, n) => `"${"\\u0000".repeat(n)}"`,
  surrogates: (_, n) => `"${"\\ud800".repeat(n)}"`,
  backslashes: (_, n) => `"${"\\\\".repeat(n)}"`,
  quotes: (_, n) => `"${'\\"'.repeat(n)}"`,
  numbers: (_, n) => `[${list(n, (i) => String(i % 10))}]`,
  emptyObjects: (_, n) => `[${list(n, () => "{}")}]`,
  emptyArrays: (_, n) => `[${list(n, () => "[]")}]`,
  nulls: (_, n) => `[${list(n, () => "null")}]`,
  texts: (_, n) => `[${list(n, (i) => `"t${i}"`)}]`,
  sameTexts: (_, n) => `[${list(n, () => '"t"')}]`,
  named: (_, n) => `[${list(n, (i) => `{"name":"n${i}"}`)}]`,
  sameNamed: (_, n) => `[${list(n, () => '{"name":"n"}')}]`,
  comb: (_, n) => `${list(n, () => '{"a":[', "")}1${"]}".repeat(n)}`,
  spaces: (_, n) => `${" ".repeat(n)}1`,
  truncated: (_, n) => `{"a":"${"x".repeat(n)}`,
  garbage: (_, n) => "\u0000".repeat(n),
};

function list(count: number, item: (i: number) => string, between = ","): string {
  return Array.from({ length: count }, (_, i) => item(i)).join(between);
}

/** JSON text, at times not well-formed, of a shape that is known to hurt. */
export function hostileJson(random: Random): string {
  const shape = SHAPES[random.pick(Object.keys(SHAPES))];
  return shape ? shape(random, random.size()) : "1";
}

const MARK = "@@hostile@@";

/** Changes a copy of the tree in a few random places; gives JSON text, in which hostile shapes are kept as they are. */
export function mutated(random: Random, tree: Tree, changes = random.between(1, 4)): string {
  const copy = structuredClone(tree);
  const raw: string[] = [];
  for (let change = 0; change < changes; change += 1) {
    const places = placesIn(copy);
    if (places.length === 0) break;
    const { within, key } = random.pick(places);
    const before = (within as Tree)[key];
    mutate(random, { within, key }, raw);
    // What is multiplied within what was multiplied soon has more text than a body, or a string, may have.
    if (lengthOf(copy) > MOST_TEXT) (within as Tree)[key] = before;
  }
  const text = JSON.stringify(copy);
  // What is in an array that was multiplied is there only once.
  return text.replaceAll(/"@@hostile@@(\d+)"/g, (_, at: string) => raw.splice(Number(at), 1, "0")[0] ?? "0");
}

const MOST_TEXT = 4 * 1024 * 1024;

/** About as many characters as its JSON text has; counting ends soon after what a text may have. */
function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 4;
  let length = 2;
  for (const [key, inner] of Object.entries(value)) {
    if (length > MOST_TEXT) break;
    length += lengthOf(inner) + (Array.isArray(value) ? 1 : key.length + 4);
  }
  return length;
}

interface Place {
  readonly within: Tree | unknown[];
  readonly key: string;
}

function placesIn(value: unknown): Place[] {
  const places: Place[] = [];
  const visit = (within: unknown): void => {
    if (typeof within !== "object" || within === null) return;
    for (const [key, inner] of Object.entries(within)) {
      places.push({ within: within as Tree, key });
      visit(inner);
    }
  };
  visit(value);
  // The three fields that say what the object is are left alone mostly, or nothing behind them would be reached.
  return places.filter(({ within, key }) => within !== value || !["apiVersion", "kind", "metadata"].includes(key));
}

function mutate(random: Random, { within, key }: Place, raw: string[]): void {
  const target = within as Tree;
  const value = target[key];
  const hostile = (): string => `${MARK}${raw.push(hostileJson(random)) - 1}`;
  const change = random.below(10);
  if (change < 2) target[key] = hostile();
  else if (change < 4) target[key] = anyValue(random);
  else if (change === 4) target[key] = hostileText(random);
  else if (change === 5 && !Array.isArray(within)) target[hostileText(random)] = anyValue(random);
  else if (change === 6) Reflect.deleteProperty(target, key);
  else if (change === 7) target[key] = typeof value === "string" ? hostileNumber(random) : String(value);
  else target[key] = multiplied(random, value);
}

/** Characters of what a multiplication makes. */
const MOST_MULTIPLIED = 1_000_000;

/** Many of what there is one of. */
function multiplied(random: Random, value: unknown): unknown {
  const size = Math.min(random.size(3000), Math.ceil(MOST_MULTIPLIED / (JSON.stringify(value)?.length || 1)));
  const varied = random.chance(0.7);
  if (Array.isArray(value))
    return Array.from({ length: size }, (_, i) => renamed(value[i % value.length], varied ? i : 0));
  if (typeof value === "object" && value !== null) {
    const [first] = Object.values(value) as unknown[];
    return { ...value, ...Object.fromEntries(Array.from({ length: size }, (_, i) => [`k${i}`, first ?? i])) };
  }
  return String(value).repeat(size);
}

function renamed(value: unknown, i: number): unknown {
  if (i === 0 || value === undefined) return value ?? null;
  if (typeof value === "string") return `${value}${i}`;
  if (typeof value === "number") return value + i;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const names = ["name", "key", "ip", "path", "host", "containerPort", "port", "mountPath", "topologyKey"];
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) => [k, names.includes(k) ? renamed(v, i) : (v as unknown)]),
  );
}
