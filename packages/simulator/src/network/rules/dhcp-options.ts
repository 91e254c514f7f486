import type { JsonObject } from "../../kernel/json.ts";
import { integer, list, object, shown } from "../kit/attributes.ts";
import { invalidValue } from "../errors.ts";
import type { DhcpOption } from "../model.ts";

/** An option as a request gives it: null removes the option of that name. */
export interface DhcpOptionWish {
  readonly opt_name: string;
  readonly opt_value: string | null;
  readonly ip_version: number;
}

/** Options that may have an empty value. */
const blank = new Set(["router", "classless-static-route"]);

/** Reads `extra_dhcp_opts`. */
export function readOptions(value: unknown, field: string): readonly DhcpOptionWish[] {
  return list(value, field).map((entry) => {
    const option = object(entry, field);
    return {
      opt_name: textOf(option, "opt_name", field),
      opt_value: option["opt_value"] === null ? null : textOf(option, "opt_value", field),
      ip_version: option["ip_version"] === undefined ? 4 : integer(option["ip_version"]),
    };
  });
}

function textOf(option: JsonObject, key: string, field: string): string {
  const value = option[key];
  if (typeof value === "string") return value;
  throw invalidValue(field, `'${shown(option)}' needs a string as ${key}.`);
}

/** The options of a new port: those that have a value. */
export const keptOptions = (asked: readonly DhcpOptionWish[]): readonly DhcpOption[] => asked.flatMap(withValue);

function withValue({ opt_value: value, ...option }: DhcpOptionWish): readonly DhcpOption[] {
  return value === null || (value === "" && !blank.has(option.opt_name)) ? [] : [{ ...option, opt_value: value }];
}

/** A PUT changes the options that it names, removes those with value null, and keeps all others. */
export function mergedOptions(has: readonly DhcpOption[], asked: readonly DhcpOptionWish[]): readonly DhcpOption[] {
  const merged = new Map(has.map((option) => [keyOf(option), option]));
  for (const wish of asked) {
    if (wish.opt_value === null) merged.delete(keyOf(wish));
    for (const option of withValue(wish)) merged.set(keyOf(wish), option);
  }
  return [...merged.values()];
}

const keyOf = ({ opt_name: name, ip_version: version }: Pick<DhcpOption, "opt_name" | "ip_version">): string =>
  `${version} ${name}`;
