import { compilePattern } from "../regexp.ts";
import { CostError } from "./cost-error.ts";
import type { CelEnvironment } from "./cel-environment.ts";

/** What programs call in the place of matches(), whose own engine may take exponential time. */
export const MATCHES = "matchesInLinearTime";

/** What "strings" is before a dot. */
class Strings {}

/** Kubernetes' regular-expression library and the string functions that the CEL library here lacks. */
export function registerStrings(environment: CelEnvironment): void {
  environment.registerType("cel.Strings", Strings);
  environment.registerConstant("strings", "cel.Strings", new Strings());
  environment
    .registerOperator("bytes < bytes", (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) < 0)
    .registerOperator("bytes <= bytes", (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) <= 0)
    .registerOperator("bytes > bytes", (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) > 0)
    .registerOperator("bytes >= bytes", (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) >= 0)
    .registerFunction("cel.Strings.quote(string): string", (_: Strings, text: string) => JSON.stringify(text))
    .registerFunction(`string.${MATCHES}(string): bool`, (text: string, pattern: string) =>
      compilePattern(pattern).test(text),
    )
    .registerFunction(
      "string.find(string): string",
      (text: string, pattern: string) => compilePattern(pattern).findAll(text, 1)[0] ?? "",
    )
    .registerFunction("string.findAll(string): list<string>", (text: string, pattern: string) =>
      compilePattern(pattern).findAll(text),
    )
    .registerFunction("string.findAll(string, int): list<string>", (text: string, pattern: string, limit: bigint) =>
      compilePattern(pattern).findAll(text, limit < 0n ? Infinity : Number(limit)),
    )
    .registerFunction("string.charAt(int): string", (text: string, index: bigint) => {
      const points = Array.from(text);
      if (index < 0n || index > BigInt(points.length)) throw new Error(`index out of range: ${index}`);
      return points[Number(index)] ?? "";
    })
    .registerFunction("string.replace(string, string): string", (text: string, from: string, to: string) => {
      refuseGrowth(text, from, to);
      return text.replaceAll(from, () => to);
    })
    .registerFunction("string.replace(string, string, int): string", replaceSome)
    .registerFunction("string.format(list): string", (text: string, values: readonly unknown[]) =>
      format(text, values),
    );
}

/** Replacing makes a text that may be as long as two texts multiplied. */
function refuseGrowth(text: string, from: string, to: string): void {
  const most = (text.length / Math.max(from.length, 1) + 1) * to.length;
  if (most > MAXIMUM_TEXT) throw new CostError("operation cancelled: actual cost limit exceeded");
}

const MAXIMUM_TEXT = 10_000_000;

// The arity is fixed by CEL: the receiver and three arguments.
function replaceSome(...[text, from, to, limit]: [string, string, string, bigint]): string {
  refuseGrowth(text, from, to);
  let left = limit < 0n ? Infinity : Number(limit);
  return text.replaceAll(from, (found) => (left-- > 0 ? to : found));
}

/** %s %d %f %e %x %X %o %b with an optional precision, as cel-go's strings extension. */
function format(text: string, values: readonly unknown[]): string {
  let next = 0;
  return text.replaceAll(/%(?:%|(?:\.(\d+))?([sdfexXob]))/g, (whole, precision: string | undefined, verb: string) => {
    if (whole === "%%") return "%";
    if (next >= values.length) throw new Error(`index ${next} out of range`);
    return formatOne(verb, values[next++], precision === undefined ? 6 : Number(precision));
  });
}

function formatOne(verb: string, value: unknown, precision: number): string {
  switch (verb) {
    case "s":
      return display(value);
    case "d":
      return display(value);
    case "f":
      return Number(value).toFixed(precision);
    case "e":
      return Number(value)
        .toExponential(precision)
        .replace(/e([+-])(\d)$/, "e$10$2");
    case "x":
    case "X": {
      const hex = typeof value === "string" ? Buffer.from(value).toString("hex") : BigInt(Number(value)).toString(16);
      return verb === "X" ? hex.toUpperCase() : hex;
    }
    case "o":
      return BigInt(Number(value)).toString(8);
    default:
      return typeof value === "boolean" ? (value ? "1" : "0") : BigInt(Number(value)).toString(2);
  }
}

function display(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(quoted).join(", ")}]`;
  if (value instanceof Date) return value.toISOString().replace(".000Z", "Z");
  if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([name, child]) => `${quoted(name)}:${quoted(child)}`).join(", ")}}`;
  }
  return String(value);
}

/** Within lists and maps texts and bytes are in quotes, and doubles have six decimals. */
function quoted(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Uint8Array) return `b${JSON.stringify(Buffer.from(value).toString())}`;
  return typeof value === "number" && Number.isFinite(value) ? value.toFixed(6) : display(value);
}
