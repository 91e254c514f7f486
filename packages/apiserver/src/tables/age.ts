const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** The time since a timestamp as kubectl shows it ("5m12s", "3d"), "<unknown>" without one. */
export function age(since: unknown, now: number): string {
  if (typeof since !== "string" || since === "") return "<unknown>";
  return duration(now - Date.parse(since));
}

/** A duration in milliseconds, with two units where the first alone is too coarse. */
export function duration(milliseconds: number): string {
  if (Number.isNaN(milliseconds) || milliseconds < -2 * SECOND) return "<invalid>";
  const t = Math.max(0, milliseconds);
  if (t < 2 * MINUTE) return `${Math.floor(t / SECOND)}s`;
  if (t < 10 * MINUTE) return pair(t, [MINUTE, "m"], [SECOND, "s"]);
  if (t < 3 * HOUR) return `${Math.floor(t / MINUTE)}m`;
  if (t < 8 * HOUR) return pair(t, [HOUR, "h"], [MINUTE, "m"]);
  if (t < 2 * DAY) return `${Math.floor(t / HOUR)}h`;
  if (t < 8 * DAY) return pair(t, [DAY, "d"], [HOUR, "h"]);
  if (t < 2 * YEAR) return `${Math.floor(t / DAY)}d`;
  if (t < 8 * YEAR) return pair(t, [YEAR, "y"], [DAY, "d"]);
  return `${Math.floor(t / YEAR)}y`;
}

type Unit = readonly [length: number, letter: string];

function pair(t: number, [big, bigLetter]: Unit, [small, smallLetter]: Unit): string {
  const rest = Math.floor((t % big) / small);
  return `${Math.floor(t / big)}${bigLetter}${rest > 0 ? `${rest}${smallLetter}` : ""}`;
}
