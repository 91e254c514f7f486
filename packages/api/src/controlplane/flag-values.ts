import type { TSchema } from "typebox";
import { checked, flag, int32, oneOf, optional, setOf, text } from "../schema/fields.ts";

/** A value of a flag in the spec of a control plane. */
export type FlagValue = number | string | boolean | readonly string[];

/** The values that a flag may have: as a field of a spec, and as text of a command line. */
export interface FlagValues {
  /** The field, whose schema has the same bounds. */
  schema(description: string): TSchema;
  /** The value of a text such as "5m"; undefined: it is not allowed. */
  read(text: string): FlagValue | undefined;
  /** The text of a value for a program; undefined: the value is not allowed. */
  write(value: unknown): string | undefined;
  /** What is allowed, in words. */
  readonly words: string;
}

const isWithin = (value: unknown, min: number, max: number): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;

/** A whole number. */
export function count(min: number, max: number): FlagValues {
  return {
    schema: (description) => optional(int32({ minimum: min, maximum: max, description })),
    read(value) {
      const number = /^\d{1,9}$/.test(value) ? Number(value) : undefined;
      return isWithin(number, min, max) ? number : undefined;
    },
    write: (value) => (isWithin(value, min, max) ? String(value) : undefined),
    words: `a whole number from ${min} to ${max}`,
  };
}

/** A time: whole seconds in a spec, Go's notation on a command line. */
export function span(min: number, max: number): FlagValues {
  return {
    schema: (description) => optional(int32({ minimum: min, maximum: max, description })),
    read(value) {
      const seconds = secondsOf(value);
      return isWithin(seconds, min, max) ? seconds : undefined;
    },
    write: (value) => (isWithin(value, min, max) ? `${value}s` : undefined),
    words: `a time from ${min}s to ${max}s, such as 90s or 5m`,
  };
}

/** "1h30m" is 5400; undefined for what is not a time in whole seconds. */
function secondsOf(value: string): number | undefined {
  const [, hours, minutes, seconds] = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s)?$/.exec(value) ?? [];
  if (hours === undefined && minutes === undefined && seconds === undefined) return undefined;
  return Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0);
}

/** One of a fixed set of words. */
export function choice(values: readonly string[]): FlagValues {
  const write = (value: unknown) => (typeof value === "string" && values.includes(value) ? value : undefined);
  return {
    schema: (description) => optional(oneOf(values, { description })),
    read: write,
    write,
    words: `one of ${values.join(", ")}`,
  };
}

/** "true" or "false". */
export const yesOrNo: FlagValues = {
  schema: (description) => optional(flag({ description })),
  read: (value) => (/^(true|false)$/.test(value) ? value === "true" : undefined),
  write: (value) => (typeof value === "boolean" ? String(value) : undefined),
  words: "true or false",
};

/** Some of these words. What every control plane has is `always`, and comes first. */
export function someOf(values: readonly string[], always: readonly string[]): FlagValues {
  const isAllowed = (given: readonly unknown[]): given is readonly string[] =>
    given.length > 0 && given.every((each) => values.includes(each as string));
  return {
    schema: (description) => optional(setOf(oneOf(values), { min: 1, max: values.length, description })),
    read(value) {
      const given = value.split(",").filter((each) => each !== "");
      const more = [...new Set(given)].filter((each) => !always.includes(each)).sort();
      return given.length > 0 && (more.length === 0 || isAllowed(more)) ? more : undefined;
    },
    write(value) {
      if (!Array.isArray(value) || !isAllowed(value)) return undefined;
      return [...always, ...new Set(value)].join(",");
    },
    words: `some of ${values.join(", ")}, separated by commas`,
  };
}

/** "30000-32767": ports of every node, none of those that only root may open. */
export const portRange: FlagValues = {
  schema: (description) =>
    optional(
      checked(text(9, 11, { pattern: "^[0-9]{4,5}-[0-9]{4,5}$", description }), [
        {
          rule: "int(self.split('-')[0]) >= 1024 && int(self.split('-')[0]) <= int(self.split('-')[1]) && int(self.split('-')[1]) <= 65535",
          message: "a range of ports is FIRST-LAST with 1024 <= FIRST <= LAST <= 65535",
        },
      ]),
    ),
  read: portsOf,
  write: portsOf,
  words: "FIRST-LAST, ports from 1024 to 65535",
};

function portsOf(value: unknown): string | undefined {
  const [, first, last] = /^(\d{4,5})-(\d{4,5})$/.exec(typeof value === "string" ? value : "") ?? [];
  const isRange = Number(first) >= 1024 && Number(first) <= Number(last) && Number(last) <= 65_535;
  return isRange ? `${first}-${last}` : undefined;
}
