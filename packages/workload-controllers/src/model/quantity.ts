const pattern = /^([+-]?)(\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE]([+-]?\d{1,2})|([numkMGTPE]|[KMGTPE]i)?)$/;

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** A resource.Quantity as a number in `unit`s, rounded up as the scheduler rounds; 0 for a text that is no quantity. */
export function quantity(value: unknown, unit = 1): number {
  const match = pattern.exec(typeof value === "number" ? String(value) : typeof value === "string" ? value : "");
  if (!match) return 0;
  const [, sign, digits, exponent, suffix] = match;
  const factor = exponent === undefined ? (factors[suffix ?? ""] ?? 1) : 10 ** Number(exponent);
  const scaled = Number(((Number(digits) * factor) / unit).toPrecision(15));
  return Math.ceil(sign === "-" ? -scaled : scaled) || 0;
}

/** By resource name: thousandths for cpu, units for the rest. */
export type Amounts = Readonly<Record<string, number>>;

/** Of quantities such as `{ cpu: "500m", memory: "1Gi" }`; what is no quantity is 0. */
export function amounts(of: Readonly<Record<string, unknown>> | undefined): Amounts {
  const result: Record<string, number> = {};
  for (const [name, value] of Object.entries(of ?? {})) result[name] = quantity(value, name === "cpu" ? 1e-3 : 1);
  return result;
}

/** The sum for each resource of either. */
export function addAmounts(a: Amounts, b: Amounts): Amounts {
  const sum: Record<string, number> = { ...a };
  for (const [name, value] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + value;
  return sum;
}

/** The maximum for each resource of either, as init containers and containers take turns. */
export function largerAmounts(a: Amounts, b: Amounts): Amounts {
  const largest: Record<string, number> = { ...a };
  for (const [name, value] of Object.entries(b)) largest[name] = Math.max(largest[name] ?? 0, value);
  return largest;
}
