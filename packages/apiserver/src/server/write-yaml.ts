import { isRecord, type Json } from "../json/json.ts";

/**
 * A value as YAML that readers of YAML 1.1 and of 1.2 understand alike, in the form of sigs.k8s.io/yaml: keys in order,
 * lists at the level of their key, quotes around every string that could be read as something else. Takes time linear
 * in the size of the value.
 */
export function writeYaml(value: unknown): string {
  const lines: string[] = [];
  write(lines, value, { head: "", indent: "", isMember: false });
  return `${lines.join("\n")}\n`;
}

interface Place {
  /** What is already on the line where the value begins: "  name:" or "- -". */
  readonly head: string;
  /** What every line of a container within the value begins with. */
  readonly indent: string;
  /** The value has a key: its own lines begin below it. */
  readonly isMember: boolean;
}

function write(lines: string[], value: unknown, place: Place): void {
  if (Array.isArray(value) && value.length > 0) return writeList(lines, value, place);
  if (isRecord(value)) {
    const names = Object.keys(value).filter((name) => value[name] !== undefined);
    if (names.length > 0) return writeMap(lines, [value, names.toSorted(naturally)], place);
  }
  const shown = typeof value === "string" ? textOf(value, place.indent) : (JSON.stringify(value) ?? "null");
  lines.push(place.head === "" ? shown : `${place.head} ${shown}`);
}

function writeList(lines: string[], items: readonly unknown[], { head, indent, isMember }: Place): void {
  if (isMember) lines.push(head);
  for (const [i, item] of items.entries()) {
    const begin = i > 0 || isMember || head === "" ? `${indent}-` : `${head} -`;
    write(lines, item, { head: begin, indent: `${indent}  `, isMember: false });
  }
}

function writeMap(lines: string[], [map, names]: readonly [Json, readonly string[]], place: Place): void {
  const { head, indent, isMember } = place;
  if (isMember) lines.push(head);
  // Under a key, a map is one level further in than a list.
  const own = isMember ? `${indent}  ` : indent;
  for (const [i, name] of names.entries()) {
    const begin = i > 0 || isMember || head === "" ? own : `${head} `;
    const key = textOf(name, own, false);
    write(lines, map[name], { head: `${begin}${key}:`, indent: own, isMember: true });
  }
}

const PLAIN = /^[A-Za-z0-9_./\\(<$^+~;][^\p{C}\p{Zl}\p{Zp}\u00a0\ufeff]*$/u;
/** What readers of YAML take for something else than a string. */
const RESOLVED =
  /^(?:y|n|yes|no|on|off|true|false|null|nil|~|<<|=|[-+]?\.(?:inf|nan|[\d_]*)|[-+.]?\d[\d_.:,eExXoObBa-fA-F+-]*(?:[ tTzZ][\d:. tTzZ+-]*)?)$/i;
const SINGLE = /^[^\p{C}\p{Zl}\p{Zp}\ufeff]*$/u;
/** Lines of printable text, the first of which begins with no space. */
const LINES = /^(?![\s])[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufeff]*(?:\n[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufeff]*)+$/u;

/**
 * A string: plain where nothing can take it for something else, as lines where it has some, and in quotes otherwise.
 */
function textOf(value: string, indent: string, mayHaveLines = true): string {
  if (value === "" || RESOLVED.test(value)) return JSON.stringify(value);
  if (isPlain(value)) return value;
  if (mayHaveLines && LINES.test(value) && !/[ \t](?:\n|$)/.test(value)) return literal(value, indent);
  return SINGLE.test(value) ? `'${value.replaceAll("'", "''")}'` : quoted(value);
}

function isPlain(value: string): boolean {
  return PLAIN.test(value) && !/:(?:\s|$)|\s#|\s$/.test(value);
}

function literal(value: string, indent: string): string {
  const ends = /\n*$/.exec(value)?.[0].length ?? 0;
  const mark = ends === 0 ? "|-" : ends === 1 ? "|" : "|+";
  const body = ends === 0 ? value : value.slice(0, -1);
  return [mark, ...body.split("\n").map((line) => (line === "" ? "" : `${indent}  ${line}`))].join("\n");
}

/** JSON's quotes, and escapes of what YAML does not count as printable. */
function quoted(value: string): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff]|\p{Cf}/gu,
    (c) => `\\U${(c.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`,
  );
}

/** The order of go-yaml: digits by their number, and letters after all else. */
function naturally(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a[at] === b[at]) at += 1;
  if (at === length) return a.length - b.length;
  const [left = "", right = ""] = [a[at], b[at]];
  const [isLeft, isRight] = [LETTER.test(left), LETTER.test(right)];
  if (isLeft !== isRight) return isRight ? -1 : 1;
  if (isLeft) return left < right ? -1 : 1;
  const [first, second] = [numberAt(a, at), numberAt(b, at)];
  return first - second || (left < right ? -1 : 1);
}

const LETTER = /\p{L}/u;

/** The number whose digits begin here; those before the place are the same in both. */
function numberAt(text: string, at: number): number {
  let end = at;
  while (end < text.length && end < at + 15 && /\d/.test(text.charAt(end))) end += 1;
  return end === at ? 0 : Number(text.slice(at, end));
}
