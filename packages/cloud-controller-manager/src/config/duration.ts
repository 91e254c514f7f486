const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;

/** Milliseconds of a duration as Go writes it ("1m30s", "500ms", "0"); undefined when it is none, as a bare "5" is. */
export function parseDuration(text: string): number | undefined {
  const sign = text.startsWith("-") ? -1 : 1;
  const rest = text.replace(/^[+-]/, "");
  if (rest === "0") return 0;
  if (rest === "") return undefined;
  let sum = 0;
  part.lastIndex = 0;
  for (let at = 0; at < rest.length; at = part.lastIndex) {
    const match = part.exec(rest);
    if (!match) return undefined;
    sum += Number(match[1]) * (units[match[2] ?? ""] ?? 0);
  }
  return sign * sum;
}
