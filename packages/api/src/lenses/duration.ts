import { converted, type Lens } from "./lens.ts";

const unit: Readonly<Record<string, number>> = {
  h: 3600,
  m: 60,
  s: 1,
  ms: 1e-3,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ns: 1e-9,
};
const whole = /^[-+]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** Whether a value is a duration in Go's notation, such as "1h30m", of at most 64 characters. */
export function isDuration(value: unknown): value is string {
  return typeof value === "string" && value.length <= 64 && whole.test(value);
}

/** Whole seconds of a duration as Go writes it ("1h10m"), without fractions. */
export function secondsOf(duration: unknown): number {
  if (!isDuration(duration)) {
    throw new Error(`${JSON.stringify(duration)} is not a duration such as "10m" or "1h30m"`);
  }
  const parts = duration.matchAll(/([0-9.]+)(ns|us|µs|μs|ms|s|m|h)/g);
  const sum = [...parts].reduce((seconds, [, number, name]) => seconds + Number(number) * (unit[name ?? ""] ?? 0), 0);
  // Rounded to nanoseconds first: 0.1 s and 0.9 s are one second.
  const seconds = Math.trunc(Math.round(sum * 1e9) / 1e9);
  return duration.startsWith("-") ? -seconds : seconds;
}

/** Whole seconds as Go writes a duration: 600 is "10m0s". */
export function durationOf(seconds: unknown): string {
  if (typeof seconds !== "number") throw new Error(`${JSON.stringify(seconds)} is not a number of seconds`);
  const [sign, total] = seconds < 0 ? ["-", -seconds] : ["", seconds];
  const [h, m, s] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  return `${sign}${h > 0 ? `${h}h${m}m` : m > 0 ? `${m}m` : ""}${s}s`;
}

/** A duration of the older version that the stored one has as seconds. */
export function seconds(older: string, newer: string): Lens {
  return converted(older, newer, { up: secondsOf, down: durationOf });
}
