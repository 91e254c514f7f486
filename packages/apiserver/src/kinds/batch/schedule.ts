/*
 * Schedules of CronJobs, and what is wrong with them. Source: Kubernetes, "CronJob: Schedule syntax"; the words are
 * those of the parser that kube-apiserver reads them with.
 */

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: readonly Bounds[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: MONTHS },
  { least: 0, most: 6, names: DAYS },
];
const WORDS = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** What is wrong with a schedule, or undefined. */
export function scheduleFault(schedule: string): string | undefined {
  if (schedule.startsWith("@")) {
    const isKnown = WORDS.includes(schedule) || /^@every (\d+(\.\d+)?(h|m|s|ms))+$/.test(schedule);
    return isKnown ? undefined : `unrecognized descriptor: ${schedule}`;
  }
  const parts = schedule.split(/\s+/).filter(Boolean);
  if (parts.length !== FIELDS.length) {
    return `expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`;
  }
  for (const [i, part] of parts.entries()) {
    for (const range of part.split(",")) {
      const fault = rangeFault(range, FIELDS[i] ?? { least: 0, most: 0 });
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function rangeFault(range: string, bounds: Bounds): string | undefined {
  const [whole = "", step, ...more] = range.split("/");
  const [low = "", high, ...others] = whole.split("-");
  if (others.length > 0) return `too many hyphens: ${range}`;
  if (more.length > 0) return `too many slashes: ${range}`;
  const isAll = low === "*" || low === "?";
  const ends = isAll ? [] : [low, ...(high === undefined ? [] : [high])];
  const numbers: number[] = [];
  for (const text of ends) {
    const number = numberOf(text, bounds);
    if (typeof number === "string") return number;
    numbers.push(number);
  }
  if (step !== undefined && !/^[+-]?\d+$/.test(step)) return unreadable(step);
  const toTheEnd = isAll || (step !== undefined && high === undefined);
  const start = numbers[0] ?? bounds.least;
  const end = toTheEnd ? bounds.most : (numbers[1] ?? start);
  return orderFault(range, [start, end], bounds) ?? stepFault(range, step);
}

/** A number, or what is wrong with its text. */
function numberOf(text: string, { least, names = [] }: Bounds): number | string {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + least;
  if (!/^[+-]?\d+$/.test(text)) return unreadable(text);
  return Number(text) < 0 ? `negative number (${Number(text)}) not allowed: ${text}` : Number(text);
}

function orderFault(
  range: string,
  [start, end]: readonly [number, number],
  { least, most }: Bounds,
): string | undefined {
  if (start < least) return `beginning of range (${start}) below minimum (${least}): ${range}`;
  if (end > most) return `end of range (${end}) above maximum (${most}): ${range}`;
  return start > end ? `beginning of range (${start}) beyond end of range (${end}): ${range}` : undefined;
}

function stepFault(range: string, step: string | undefined): string | undefined {
  return step !== undefined && Number(step) === 0 ? `step of range should be a positive number: ${range}` : undefined;
}

function unreadable(text: string): string {
  return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
}

/** What is wrong with a time zone, or undefined. */
export function zoneFault(zone: string): string | undefined {
  if (zone === "") return "timeZone must be nil or non-empty string";
  if (zone.toLowerCase() === "local") {
    return "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
  }
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return undefined;
  } catch {
    return `unknown time zone ${zone}`;
  }
}
