import { createHash } from "node:crypto";
import { argument, count, list, text, type Call, type TemplateFunction } from "./arguments.ts";
import { fieldOf, isFields, isList, kindOf, show, toJson, type Value } from "./values.ts";

/**
 * sprig's functions of texts. Their results are measured by the renderer; those that multiply a text are measured
 * before.
 */
export const textFunctions: Readonly<Record<string, TemplateFunction>> = {
  upper: (call) => text(call, 0).toUpperCase(),
  lower: (call) => text(call, 0).toLowerCase(),
  title: (call) =>
    text(call, 0).replaceAll(/(^|\s)(\S)/g, (_, gap: string, first: string) => gap + first.toUpperCase()),
  untitle: (call) =>
    text(call, 0).replaceAll(/(^|\s)(\S)/g, (_, gap: string, first: string) => gap + first.toLowerCase()),
  trim: (call) => text(call, 0).trim(),
  trimAll: (call) => trimmed(text(call, 1), text(call, 0)),
  trimSuffix: (call) => withoutEnd(text(call, 1), text(call, 0)),
  trimPrefix: (call) =>
    text(call, 1).startsWith(text(call, 0)) ? text(call, 1).slice(text(call, 0).length) : text(call, 1),
  nospace: (call) => text(call, 0).replaceAll(/\s/g, ""),
  contains: (call) => text(call, 1).includes(text(call, 0)),
  hasPrefix: (call) => text(call, 1).startsWith(text(call, 0)),
  hasSuffix: (call) => text(call, 1).endsWith(text(call, 0)),
  replace: (call) => {
    const [from, to, whole] = [text(call, 0), text(call, 1), text(call, 2)];
    call.meter.text((whole.length + 1) * (from === "" ? to.length + 1 : Math.ceil((to.length + 1) / from.length)));
    return whole.split(from).join(to);
  },
  repeat: (call) => {
    call.meter.text(text(call, 1).length * Math.max(0, count(call, 0)));
    return text(call, 1).repeat(Math.max(0, count(call, 0)));
  },
  trunc: (call) => (count(call, 0) < 0 ? text(call, 1).slice(count(call, 0)) : text(call, 1).slice(0, count(call, 0))),
  substr: (call) => {
    const [from, to] = [count(call, 0), count(call, 1)];
    return text(call, 2).slice(Math.max(0, from), to < 0 ? undefined : to);
  },
  abbrev: (call) => {
    const [width, value] = [count(call, 0), text(call, 1)];
    return value.length <= width || width < 4 ? value : `${value.slice(0, width - 3)}...`;
  },
  quote: ({ given }) => quoted(given, (value) => JSON.stringify(value)),
  squote: ({ given }) => quoted(given, (value) => `'${value}'`),
  cat: ({ given }) =>
    given
      .filter((value) => value !== null && value !== undefined)
      .map(show)
      .join(" "),
  indent: (call) => indented(call, text(call, 1)),
  nindent: (call) => `\n${indented(call, text(call, 1))}`,
  join: (call) => {
    const values = argument(call, 1);
    return (isList(values) ? list(call, 1) : [values])
      .filter((value) => value !== null && value !== undefined)
      .map(show)
      .join(text(call, 0));
  },
  split: (call) =>
    Object.fromEntries(
      text(call, 1)
        .split(text(call, 0))
        .map((part, at) => [`_${at}`, part]),
    ),
  splitList: (call) => text(call, 1).split(text(call, 0)),
  splitn: (call) => {
    const parts = text(call, 2).split(text(call, 0));
    const most = Math.max(1, count(call, 1));
    const kept =
      parts.length <= most ? parts : [...parts.slice(0, most - 1), parts.slice(most - 1).join(text(call, 0))];
    return Object.fromEntries(kept.map((part, at) => [`_${at}`, part]));
  },
  toString: (call: Call) => show(argument(call, 0)),
  toStrings: (call) => list(call, 0).map(show),
  toJson: (call) => JSON.stringify(toJson(argument(call, 0))),
  mustToJson: (call) => JSON.stringify(toJson(argument(call, 0))),
  toRawJson: (call) => JSON.stringify(toJson(argument(call, 0))),
  toPrettyJson: (call) => JSON.stringify(toJson(argument(call, 0)), null, 2),
  fromJson: (call) => parsed(text(call, 0)),
  mustFromJson: (call) => JSON.parse(text(call, 0)) as Value,
  b64enc: (call) => Buffer.from(text(call, 0)).toString("base64"),
  b64dec: (call) => Buffer.from(text(call, 0), "base64").toString(),
  sha256sum: (call) => createHash("sha256").update(text(call, 0)).digest("hex"),
  sha1sum: (call) => createHash("sha1").update(text(call, 0)).digest("hex"),
  kindOf: (call) => kindOf(argument(call, 0)),
  kindIs: (call) => kindOf(argument(call, 1)) === text(call, 0),
  typeOf: (call) => kindOf(argument(call, 0)),
  fail: (call) => {
    throw new Error(text(call, 0));
  },
  semver: (call) => semver(text(call, 0)),
  dig: (call) => {
    let value = call.given.at(-1);
    for (const key of call.given.slice(0, -2)) value = isFields(value) ? fieldOf(value, show(key)) : undefined;
    return value ?? call.given.at(-2);
  },
};

function trimmed(value: string, signs: string): string {
  let [from, to] = [0, value.length];
  while (from < to && signs.includes(value[from] ?? "")) from += 1;
  while (to > from && signs.includes(value[to - 1] ?? "")) to -= 1;
  return value.slice(from, to);
}

function withoutEnd(value: string, end: string): string {
  return end !== "" && value.endsWith(end) ? value.slice(0, -end.length) : value;
}

function quoted(values: readonly Value[], quote: (value: string) => string): string {
  const present = values.filter((value) => value !== null && value !== undefined);
  return present.map((value) => quote(show(value))).join(" ");
}

function indented(call: Call, value: string): string {
  const gap = " ".repeat(Math.max(0, Math.min(count(call, 0), 1000)));
  const lines = value.split("\n");
  call.meter.text(value.length + lines.length * gap.length);
  return lines.map((line) => gap + line).join("\n");
}

function parsed(value: string): Value {
  try {
    return JSON.parse(value) as Value;
  } catch {
    return null;
  }
}

const version = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:-([\w.-]{1,100}))?(?:\+([\w.-]{1,100}))?$/;

/** The parts of a semantic version under the names that Masterminds' type has. */
function semver(value: string): Value {
  const [, major, minor = "0", patch = "0", prerelease = "", metadata = ""] = version.exec(value) ?? [];
  if (major === undefined) throw new Error(`error calling semver: Invalid Semantic Version: ${value}`);
  return {
    Major: BigInt(major),
    Minor: BigInt(minor),
    Patch: BigInt(patch),
    Prerelease: prerelease,
    Metadata: metadata,
    Original: value,
  };
}
