import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";

/** Bytes of a log in which recent lines are searched, and milliseconds that they are recent. */
const RECENT_BYTES = 256 * 1024;
const RECENT = 180_000;

/** Lines of klog that a program wrote in the last minutes, at the end of its log. Undefined: there is no log. */
export function recentLines(file: string, now: number): string | undefined {
  const text = endOf(file);
  return text
    ?.split("\n")
    .filter((line) => isRecent(line, now))
    .join("\n");
}

function endOf(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const log = openSync(file, "r");
  try {
    const { size } = fstatSync(log);
    const length = Math.min(size, RECENT_BYTES);
    const bytes = Buffer.alloc(length);
    return bytes.toString("utf8", 0, readSync(log, bytes, 0, length, size - length));
  } finally {
    closeSync(log);
  }
}

/** klog writes month, day and time of day of this machine, and no year. */
function isRecent(line: string, now: number): boolean {
  const [, month, day, hours, minutes, seconds] = /^[EWIF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\./.exec(line) ?? [];
  if (month === undefined) return false;
  const [m, d, h, min, s] = [month, day, hours, minutes, seconds].map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const year = new Date(now).getFullYear();
  return [year, year - 1].some((each) => Math.abs(now - new Date(each, m - 1, d, h, min, s).getTime()) <= RECENT);
}
