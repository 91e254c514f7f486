/** Schedules of CronJobs: the five fields and the descriptors of upstream's parser (robfig/cron v3, standard form). */

/** A schedule that was read, in its time zone. */
export interface Schedule {
  /** The first moment after `after`, in milliseconds since the epoch; undefined: none within five years. */
  next(after: number): number | undefined;
}

interface Field {
  readonly from: number;
  readonly to: number;
  readonly names?: readonly string[];
}

interface Matches {
  readonly values: ReadonlySet<number>;
  /** The field is `*` or `?`: it does not choose days. */
  readonly any: boolean;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: readonly Field[] = [
  { from: 0, to: 59 },
  { from: 0, to: 23 },
  { from: 1, to: 31 },
  { from: 1, to: 12, names: MONTHS },
  { from: 0, to: 6, names: DAYS },
];
const DESCRIPTORS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const HORIZON = 5 * 366 * DAY;

/** Undefined: the text is no schedule, or the time zone is unknown. */
export function parseSchedule(text: string, timeZone?: string): Schedule | undefined {
  const every = /^@every\s+(.+)$/.exec(text);
  if (every) return interval(every[1] ?? "");
  const parts = (DESCRIPTORS[text] ?? text).trim().split(/\s+/);
  if (parts.length !== FIELDS.length) return undefined;
  const fields = FIELDS.map((field, i) => parseField(parts[i] ?? "", field));
  const local = localTime(timeZone);
  const [minutes, hours, days, months, weekdays] = fields;
  if (!local || !minutes || !hours || !days || !months || !weekdays) return undefined;
  return { next: (after) => search({ minutes, hours, days, months, weekdays }, local, after) };
}

function interval(text: string): Schedule | undefined {
  const units: Readonly<Record<string, number>> = { h: HOUR, m: MINUTE, s: 1_000 };
  const parts = [...text.matchAll(/(\d{1,6})([hms])/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join("") !== text) return undefined;
  const length = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ""] ?? 0), 0);
  const step = Math.max(1_000, length);
  return { next: (after) => Math.floor(after / 1_000) * 1_000 + step };
}

function parseField(text: string, field: Field): Matches | undefined {
  const values = new Set<number>();
  let any = false;
  for (const part of text.split(",")) {
    const match = /^(\*|\?|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/(\d{1,4}))?$/i.exec(part);
    if (!match) return undefined;
    const [, low = "", high, stepText] = match;
    const isAny = low === "*" || low === "?";
    const from = isAny ? field.from : numberIn(low, field);
    const last = isAny || (high === undefined && stepText !== undefined) ? field.to : numberIn(high ?? low, field);
    const step = Number(stepText ?? 1);
    if (from === undefined || last === undefined || from > last || step === 0 || (isAny && high !== undefined)) {
      return undefined;
    }
    any ||= isAny && step === 1;
    for (let value = from; value <= last; value += step) values.add(value);
  }
  return { values, any };
}

function numberIn(text: string, { from, to, names = [] }: Field): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  const value = named === -1 ? Number(text) : named + from;
  return Number.isInteger(value) && value >= from && value <= to ? value : undefined;
}

interface Local {
  readonly year: number;
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly month: number;
}

interface Wanted {
  readonly minutes: Matches;
  readonly hours: Matches;
  readonly days: Matches;
  readonly months: Matches;
  readonly weekdays: Matches;
}

/**
 * Moves on by days, hours and minutes of the zone: an hour that does not exist is skipped, one that comes twice counts
 * twice. Days are searched in the calendar, which knows no zones; the zone is computed for the last two days only,
 * since it may leave a whole one out.
 */
function search(wanted: Wanted, local: (at: number) => Local, after: number): number | undefined {
  let at = (Math.floor(after / MINUTE) + 1) * MINUTE;
  for (const end = after + HORIZON; at < end;) {
    const time = local(at);
    const { minute, hour } = time;
    const toNextHour = (60 - minute) * MINUTE;
    const days = daysUntil(wanted, time);
    if (days === undefined) return undefined;
    if (days > 0) at += toNextHour + Math.max(0, 22 - hour) * HOUR + Math.max(0, days - 2) * DAY;
    else if (!wanted.hours.values.has(hour)) at += toNextHour;
    else if (!wanted.minutes.values.has(minute)) at += MINUTE;
    else return at;
  }
  return undefined;
}

/** Days until one that the fields choose, 0 for this one; undefined: none within five years. */
function daysUntil(wanted: Wanted, { year, month, day }: Local): number | undefined {
  for (let days = 0; days * DAY <= HORIZON;) {
    const date = new Date(Date.UTC(year, month - 1, day + days));
    if (!wanted.months.values.has(date.getUTCMonth() + 1)) {
      const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
      days += Math.round((next - date.getTime()) / DAY);
    } else if (isDay(wanted, date.getUTCDate(), date.getUTCDay())) return days;
    else days++;
  }
  return undefined;
}

/** If both fields choose days, either is enough. */
function isDay({ days, weekdays }: Wanted, day: number, weekday: number): boolean {
  const first = days.values.has(day);
  const second = weekdays.values.has(weekday);
  return days.any || weekdays.any ? first && second : first || second;
}

function localTime(timeZone: string | undefined): ((at: number) => Local) | undefined {
  if (timeZone === undefined || timeZone === "UTC" || timeZone === "Etc/UTC") return utc;
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
    });
    return (at) => {
      const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
      const read = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
      return utc(Date.UTC(read("year"), read("month") - 1, read("day"), read("hour"), read("minute")));
    };
  } catch {
    return undefined;
  }
}

function utc(at: number): Local {
  const date = new Date(at);
  return {
    year: date.getUTCFullYear(),
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
  };
}
