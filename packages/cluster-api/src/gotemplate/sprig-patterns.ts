import type { RE2JS } from "re2js";
import { compilePattern } from "../variables/pattern.ts";
import { count, text, type Call, type TemplateFunction } from "./arguments.ts";

/**
 * sprig's functions with regular expressions. Patterns are Go's (RE2), so that matching takes time linear in the text;
 * their length and repetitions are bounded (variables/pattern.ts), and each search is counted by the text's length.
 */
export const patternFunctions: Readonly<Record<string, TemplateFunction>> = {
  regexMatch: matches,
  mustRegexMatch: matches,
  regexFind: (call) => found(call, { pattern: 0, text: 1 }, 1)[0]?.text ?? "",
  mustRegexFind: (call) => found(call, { pattern: 0, text: 1 }, 1)[0]?.text ?? "",
  regexFindAll: (call) => found(call, { pattern: 0, text: 1 }, count(call, 2)).map((match) => match.text),
  mustRegexFindAll: (call) => found(call, { pattern: 0, text: 1 }, count(call, 2)).map((match) => match.text),
  regexReplaceAll: (call) => replaced(call, expand),
  mustRegexReplaceAll: (call) => replaced(call, expand),
  regexReplaceAllLiteral: (call) => replaced(call, (replacement) => replacement),
  mustRegexReplaceAllLiteral: (call) => replaced(call, (replacement) => replacement),
  regexSplit: split,
  mustRegexSplit: split,
  regexQuoteMeta: (call) => text(call, 0).replaceAll(/[\\.+*?()|[\]{}^$]/g, String.raw`\$&`),
};

interface Match {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** By number; the whole first. */
  readonly groups: readonly string[];
  readonly named: Readonly<Record<string, string>>;
}

interface Places {
  readonly pattern: number;
  readonly text: number;
}

function compiled(call: Call, at: number): ReturnType<typeof RE2JS.compile> {
  const pattern = text(call, at);
  call.meter.spend(1 + pattern.length / 16);
  try {
    return compilePattern(pattern);
  } catch (error) {
    throw new Error(`error calling ${call.name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function matches(call: Call): boolean {
  const value = text(call, 1);
  call.meter.spend(1 + value.length / 16);
  return compiled(call, 0).matcher(value).find();
}

/** The matches from left to right, at most so many; less than 0: all. */
function found(call: Call, at: Places, most: number): Match[] {
  const pattern = compiled(call, at.pattern);
  const value = text(call, at.text);
  const matcher = pattern.matcher(value);
  const names = Object.entries(pattern.namedGroups());
  const all: Match[] = [];
  call.meter.spend(1 + value.length / 16);
  while ((most < 0 || all.length < most) && matcher.find()) {
    call.meter.spend();
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index) ?? "");
    const named = Object.fromEntries(names.map(([name, index]) => [name, groups[Number(index)] ?? ""]));
    all.push({ text: groups[0] ?? "", start: matcher.start(0), end: matcher.end(0), groups, named });
  }
  return all;
}

function replaced(call: Call, by: (replacement: string, match: Match) => string): string {
  const value = text(call, 1);
  const replacement = text(call, 2);
  const parts: string[] = [];
  let at = 0;
  let length = 0;
  for (const match of found(call, { pattern: 0, text: 1 }, -1)) {
    const next = value.slice(at, match.start) + by(replacement, match);
    length += next.length;
    call.meter.text(length);
    parts.push(next);
    at = match.end;
  }
  return parts.join("") + value.slice(at);
}

/** Go's Expand: $name, ${name} and $$, where a name may be a number. */
function expand(replacement: string, { groups, named }: Match): string {
  return replacement.replaceAll(/\$(?:(\$)|\{(\w+)\}|(\w+))/g, (_, dollar?: string, braced?: string, bare?: string) => {
    if (dollar !== undefined) return "$";
    const name = braced ?? bare ?? "";
    return (/^\d+$/.test(name) ? groups[Number(name)] : Object.hasOwn(named, name) ? named[name] : "") ?? "";
  });
}

/** Go's Split: at most `n` parts; less than 0: all; 0: none. */
function split(call: Call): string[] {
  const most = count(call, 2);
  if (most === 0) return [];
  const value = text(call, 1);
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of found(call, { pattern: 0, text: 1 }, -1)) {
    if (most > 0 && parts.length === most - 1) break;
    if (end === 0 && start === 0) continue;
    // Go leaves an empty match at the very end out.
    if (start === end && start === value.length) break;
    parts.push(value.slice(at, start));
    at = end;
  }
  parts.push(value.slice(at));
  return parts;
}
