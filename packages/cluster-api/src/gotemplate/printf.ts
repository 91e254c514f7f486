import type { Meter } from "./limits.ts";
import { kindOf, show, showFloat, toJson, type Value } from "./values.ts";

const verb = /%([-+ 0#]*)(\d{0,4})(?:\.(\d{1,3}))?([a-zA-Z%])/g;

/** fmt.Sprintf for the verbs v s q d x f g e t c b o and %%. */
export function sprintf(meter: Meter, format: string, values: readonly Value[]): string {
  let next = 0;
  const text = format.replaceAll(verb, (...found: (string | undefined)[]) => {
    const [, flags = "", width = "", precision, letter = ""] = found;
    if (letter === "%") return "%";
    if (next >= values.length) return `%!${letter}(MISSING)`;
    const value = values[next++];
    const shown = formatted(letter, value, { flags, precision });
    if (shown === undefined) return `%!${letter}(${kindOf(value)}=${show(value)})`;
    meter.text(Math.max(shown.length, Number(width)));
    if (flags.includes("-")) return shown.padEnd(Number(width));
    const isNumber = typeof value === "bigint" || typeof value === "number";
    if (!flags.includes("0") || !isNumber) return shown.padStart(Number(width));
    const sign = /^[+-]/.exec(shown)?.[0] ?? "";
    return sign + shown.slice(sign.length).padStart(Number(width) - sign.length, "0");
  });
  const extra = values.slice(next).map((value) => `${kindOf(value)}=${show(value)}`);
  return extra.length > 0 ? `${text}%!(EXTRA ${extra.join(", ")})` : text;
}

interface FormatOptions {
  readonly flags: string;
  readonly precision: string | undefined;
}

function formatted(letter: string, value: Value, options: FormatOptions): string | undefined {
  if (letter === "v") return show(value);
  if (typeof value === "string") return ofText(letter, value, options);
  if (typeof value === "bigint") return ofInteger(letter, value, options);
  if (typeof value === "number") return ofFloat(letter, value, options);
  if (typeof value === "boolean") return letter === "t" ? String(value) : undefined;
  return letter === "s" ? show(value) : letter === "q" ? JSON.stringify(toJson(value)) : undefined;
}

function ofText(letter: string, value: string, { precision }: FormatOptions): string | undefined {
  const cut = precision === undefined ? value : Array.from(value).slice(0, Number(precision)).join("");
  if (letter === "s") return cut;
  if (letter === "q") return JSON.stringify(cut);
  return letter === "x" ? Buffer.from(cut).toString("hex") : undefined;
}

function ofInteger(letter: string, value: bigint, { flags }: FormatOptions): string | undefined {
  const sign = flags.includes("+") && value >= 0n ? "+" : "";
  switch (letter) {
    case "d":
      return sign + String(value);
    case "x":
      return value.toString(16);
    case "X":
      return value.toString(16).toUpperCase();
    case "b":
      return value.toString(2);
    case "o":
      return value.toString(8);
    case "c":
      return value >= 0n && value <= 0x10ffffn ? String.fromCodePoint(Number(value)) : "\uFFFD";
    default:
      return undefined;
  }
}

function ofFloat(letter: string, value: number, { flags, precision }: FormatOptions): string | undefined {
  const sign = flags.includes("+") && value >= 0 ? "+" : "";
  if (letter === "f") return sign + value.toFixed(Math.min(Number(precision ?? 6), 100));
  if (letter === "e") return sign + value.toExponential(Math.min(Number(precision ?? 6), 100));
  return letter === "g" ? sign + showFloat(value) : undefined;
}
