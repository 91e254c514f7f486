import type { RawCase } from "../case.ts";
import { runGroup, textOf, type Answer, type GroupRun, type Session } from "../run.ts";
import { at, isRecord } from "../shape.ts";
import type { FilteredList, Verdict, Verdicts } from "./list.ts";

/** Parameters that say how to list, not what; a field of such a name is no filter. */
const control = new Set(["limit", "marker", "sort", "sort_key", "sort_dir", "fields", "links"]);

/** Asks for every field of an object as a filter of its list; undefined: the cloud has no such service. */
export async function verdictsOf(
  list: FilteredList,
  sessions: Readonly<Record<"member" | "admin" | "alt" | "reader", Session>>,
): Promise<Verdicts | undefined> {
  const found: Record<string, { match: Verdict; miss: Verdict }> = {};
  const group = { name: `filters of ${list.path}`, service: list.service, cases: list.make };
  const seen = await runGroup(group, sessions, async (groupRun) => {
    const view = await viewOf(list, groupRun);
    for (const [name, [match, miss]] of filtersOf(list, view, groupRun)) {
      found[name] = {
        match: await verdict(list, groupRun, [name, match]),
        miss: await verdict(list, groupRun, [name, miss]),
      };
    }
  });
  return seen && found;
}

/** The object as its list shows it. */
async function viewOf(list: FilteredList, groupRun: GroupRun): Promise<View> {
  const answer = await groupRun.ask(request({ ...list, path: list.detail ?? list.path }, ""));
  const own = objectsOf(list, answer).find((one) => isListed(list, groupRun, one));
  if (!own) throw new Error(`${list.path} does not have what was made: ${answer.status} ${answer.text.slice(0, 300)}`);
  return own;
}

const request = ({ path, as = "admin", headers }: FilteredList, query: string): RawCase => ({
  says: "filters",
  call: `GET ${path}${query === "" ? "" : `${path.includes("?") ? "&" : "?"}${query}`}`,
  as,
  ...(headers ? { headers } : {}),
});

type View = Readonly<Record<string, unknown>>;

const isListed = ({ idField = "id" }: FilteredList, { values }: GroupRun, one: View): boolean =>
  textOf(at(one, idField)) === values.get("id");

/** The objects of a list, without an envelope of each ("keypair"); one that is a text is its name. */
function objectsOf({ many }: FilteredList, { body }: Answer): readonly View[] {
  const objects = at(body, many);
  if (!Array.isArray(objects)) return [];
  return (objects as readonly unknown[]).flatMap((one) => {
    if (typeof one === "string") return [{ name: one }];
    if (!isRecord(one)) return [];
    const [inner, ...others] = Object.values(one);
    return [others.length === 0 && isRecord(inner) ? inner : one];
  });
}

/** Each filter with a value that means the object, and one that does not. */
function filtersOf(
  list: FilteredList,
  view: View,
  { values }: GroupRun,
): readonly (readonly [string, readonly [string, string]])[] {
  const own = Object.entries(view).flatMap(([name, value]) => {
    const pair = control.has(name) ? undefined : pairOf(name, value);
    return pair ? [[name, pair] as const] : [];
  });
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (all, name: string) => values.get(name) ?? all);
  const more = Object.entries(list.more ?? {}).map(
    ([name, [match, miss]]) => [name, [filled(match), filled(miss)] as const] as const,
  );
  return [...own.filter(([name]) => !Object.hasOwn(list.more ?? {}, name)), ...more];
}

function pairOf(name: string, value: unknown): readonly [string, string] | undefined {
  if (typeof value === "boolean") return [String(value), String(!value)];
  if (typeof value === "number") return [String(value), String(value + 1)];
  if (Array.isArray(value)) return pairOf(name, (value as readonly unknown[])[0]);
  if (typeof value !== "string" || value === "") return undefined;
  if (/^\d{4}-\d\d-\d\d[T ]/.test(value)) return undefined;
  return [value, otherThan(name, value)];
}

/** A value of the same kind that the object does not have. */
function otherThan(name: string, value: string): string {
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-/.test(value)) return "7f0e2f1c-3b56-4a61-9d4c-5a0f4b3e2d10";
  if (/^[0-9a-f]{32}$/.test(value)) return "7f0e2f1c3b564a619d4c5a0f4b3e2d10";
  if (/^(\d+\.){3}\d+$/.test(value)) return "203.0.113.77";
  if (name.endsWith("status"))
    return value === "ERROR" || value === "error" ? "ACTIVE" : value === value.toUpperCase() ? "ERROR" : "error";
  return `not-${value}`.slice(0, 60);
}

async function verdict(
  list: FilteredList,
  groupRun: GroupRun,
  [name, value]: readonly [string, string],
): Promise<Verdict> {
  // Pages are short: the object alone is meant wherever it is not the id that is requested.
  const answer = await groupRun.ask(request(list, `${encodeURIComponent(name)}=${encodeURIComponent(value)}`));
  const has = objectsOf(list, answer).some((one) => isListed(list, groupRun, one));
  return { status: answer.status, has };
}
