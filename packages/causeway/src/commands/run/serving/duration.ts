import { InputError } from "@causeway/foundation";

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** Milliseconds of a duration as Go writes it, such as "1m30s". @throws FLAG_INVALID */
export function readDuration(flag: string, text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  const isWhole = text !== "" && parts.map(([part]) => part).join("") === text;
  if (isWhole) return parts.reduce((sum, [, number, unit]) => sum + Number(number) * (UNITS[unit ?? ""] ?? 0), 0);
  throw new InputError("FLAG_INVALID", `--${flag} must be a duration, such as 30s; it is ${JSON.stringify(text)}.`);
}
