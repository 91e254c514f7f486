import type { CelEnvironment } from "./cel-environment.ts";

/** A resource.Quantity, exactly, in billionths. */
class Quantity {
  readonly nano: bigint;
  constructor(nano: bigint) {
    this.nano = nano;
  }
}

const UNIT = 1_000_000_000n;
const SUFFIXES: Readonly<Record<string, bigint>> = {
  n: 1n,
  u: 1_000n,
  m: 1_000_000n,
  "": UNIT,
  k: UNIT * 10n ** 3n,
  M: UNIT * 10n ** 6n,
  G: UNIT * 10n ** 9n,
  T: UNIT * 10n ** 12n,
  P: UNIT * 10n ** 15n,
  E: UNIT * 10n ** 18n,
  Ki: UNIT << 10n,
  Mi: UNIT << 20n,
  Gi: UNIT << 30n,
  Ti: UNIT << 40n,
  Pi: UNIT << 50n,
  Ei: UNIT << 60n,
};
const PATTERN = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([eE][+-]?\d{1,2})|([numkMGTPE]|[KMGTPE]i)?)$/;

/** Kubernetes' quantity library. */
export function registerQuantities(environment: CelEnvironment): void {
  environment.registerType("kubernetes.Quantity", { ctor: Quantity, fields: {} });
  const type = "kubernetes.Quantity";
  environment
    .registerFunction("isQuantity(string): bool", (text: string) => readQuantity(text) !== undefined)
    .registerFunction(`quantity(string): ${type}`, (text: string) => {
      const quantity = readQuantity(text);
      if (quantity === undefined) throw new Error(`quantities must match the regular expression: ${text}`);
      return quantity;
    })
    .registerOperator(`${type} == ${type}`, (a: Quantity, b: Quantity) => a.nano === b.nano)
    .registerFunction(`sign(${type}): int`, (q: Quantity) => BigInt(sign(q.nano)))
    .registerFunction(`${type}.isInteger(): bool`, (q: Quantity) => q.nano % UNIT === 0n)
    .registerFunction(`${type}.asInteger(): int`, (q: Quantity) => {
      if (q.nano % UNIT !== 0n) throw new Error("cannot convert value to integer");
      return q.nano / UNIT;
    })
    .registerFunction(`${type}.asApproximateFloat(): double`, (q: Quantity) => Number(q.nano) / 1e9)
    .registerFunction(`${type}.compareTo(${type}): int`, (a: Quantity, b: Quantity) => BigInt(sign(a.nano - b.nano)))
    .registerFunction(`${type}.isLessThan(${type}): bool`, (a: Quantity, b: Quantity) => a.nano < b.nano)
    .registerFunction(`${type}.isGreaterThan(${type}): bool`, (a: Quantity, b: Quantity) => a.nano > b.nano)
    .registerFunction(`${type}.add(${type}): ${type}`, (a: Quantity, b: Quantity) => new Quantity(a.nano + b.nano))
    .registerFunction(`${type}.add(int): ${type}`, (a: Quantity, b: bigint) => new Quantity(a.nano + b * UNIT))
    .registerFunction(`${type}.sub(${type}): ${type}`, (a: Quantity, b: Quantity) => new Quantity(a.nano - b.nano))
    .registerFunction(`${type}.sub(int): ${type}`, (a: Quantity, b: bigint) => new Quantity(a.nano - b * UNIT));
}

function readQuantity(text: string): Quantity | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  const [, signText, digits = "", exponent, suffix = ""] = match;
  const [whole = "", fraction = ""] = digits.split(".");
  const power = exponent === undefined ? 0 : Number(exponent.slice(1));
  const multiplier = (SUFFIXES[suffix] ?? UNIT) * 10n ** BigInt(Math.max(power, 0));
  const divisor = 10n ** BigInt(fraction.length + Math.max(-power, 0));
  const scaled = BigInt(whole + fraction) * multiplier;
  // What is finer than a billionth is rounded up, as there.
  const nano = (scaled + divisor - 1n) / divisor;
  return new Quantity(signText === "-" ? -nano : nano);
}

function sign(value: bigint): number {
  return value > 0n ? 1 : value < 0n ? -1 : 0;
}
