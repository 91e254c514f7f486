import { record, type Json } from "../json/json.ts";

/**
 * Quantities as Go's resource.Quantity writes them: "1000m" becomes "1", "0.5" becomes "500m", "2048Mi" becomes "2Gi".
 * Source: kubernetes.io "Kubernetes API / Common Definitions / Quantity".
 */

const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(?:([KMGTPE]i)|([numkMGTPE]?)|[eE]([+-]?\d+))$/;
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const NANO = 9;

interface Amount {
  /** In billionths. */
  readonly nanos: bigint;
  readonly format: "decimal" | "binary" | "exponent";
}

/** The canonical form; what is no quantity comes back as it is. `finest` is the power of ten that is rounded up to. */
export function canonicalQuantity(value: unknown, finest = -NANO): unknown {
  const amount = parse(String(value as string));
  if (!amount) return value;
  return shown({ ...amount, nanos: roundedUp(amount.nanos, finest + NANO) });
}

function parse(text: string): Amount | undefined {
  const match = FORM.exec(text.trim());
  if (!match) return undefined;
  const [, sign, whole = "", fraction = "", binary, suffix = "", exponent] = match;
  if (whole === "" && fraction === "") return undefined;
  const digits = BigInt(`${whole}${fraction}`) * (sign === "-" ? -1n : 1n);
  if (binary !== undefined) {
    const scaled = digits * 1024n ** BigInt(BINARY.indexOf(binary) + 1);
    const nanos = power(scaled, NANO - fraction.length);
    // Less than one would be lost in binary steps.
    return { nanos, format: nanos > 0n && nanos < 1_000_000_000n ? "decimal" : "binary" };
  }
  const ten = exponent === undefined ? (DECIMAL[suffix] ?? 0) : Number(exponent);
  return {
    nanos: power(digits, NANO + ten - fraction.length),
    format: exponent === undefined ? "decimal" : "exponent",
  };
}

/** value × 10^exponent, away from zero where it does not divide. */
function power(value: bigint, exponent: number): bigint {
  return exponent >= 0 ? value * 10n ** BigInt(Math.min(exponent, 60)) : divided(value, 10n ** BigInt(-exponent));
}

function divided(value: bigint, by: bigint): bigint {
  const rest = value % by;
  const whole = value / by;
  return rest === 0n ? whole : whole + (value < 0n ? -1n : 1n);
}

function roundedUp(nanos: bigint, digits: number): bigint {
  const step = 10n ** BigInt(digits);
  return divided(nanos, step) * step;
}

function shown({ nanos, format }: Amount): string {
  if (nanos === 0n) return "0";
  const size = nanos < 0n ? -nanos : nanos;
  const isBinary = format === "binary" && size >= 1024n * 10n ** 9n && nanos % 10n ** 9n === 0n;
  return isBinary ? inBinary(nanos / 10n ** 9n) : inDecimal(nanos, format === "exponent");
}

function inBinary(value: bigint): string {
  let rest = value;
  let step = 0;
  for (; step < BINARY.length && rest % 1024n === 0n; step += 1) rest /= 1024n;
  return `${rest}${step === 0 ? "" : (BINARY[step - 1] ?? "")}`;
}

function inDecimal(nanos: bigint, asExponent: boolean): string {
  let rest = nanos;
  let exponent = -NANO;
  for (; exponent < 18 && rest % 1000n === 0n; exponent += 3) rest /= 1000n;
  if (asExponent) return exponent === 0 ? String(rest) : `${rest}e${exponent}`;
  const suffix = Object.keys(DECIMAL).find((name) => DECIMAL[name] === exponent) ?? "";
  return `${rest}${suffix}`;
}

/** In billionths; undefined for what is no quantity. */
export function nanosOf(value: unknown): bigint | undefined {
  return parse(String(value as string))?.nanos;
}

/** Amounts by name, each in one form, so that those that are the same in other words compare as the same. */
export function comparableAmounts(list: unknown): Json {
  return Object.fromEntries(Object.entries(record(list)).map(([name, amount]) => [name, String(nanosOf(amount))]));
}

/** a + b, or a - b, in the form of the first that is not nothing. */
export function addQuantity(a: unknown, b: unknown, sign: 1 | -1 = 1): string {
  const [left, right] = [parse(String(a as string)), parse(String(b as string))];
  const nanos = (left?.nanos ?? 0n) + (right?.nanos ?? 0n) * BigInt(sign);
  const format = (left && left.nanos !== 0n ? left : right)?.format ?? "decimal";
  return shown({ nanos, format });
}
