import type { Json } from "../interface.ts";
import type { Difference } from "./run.ts";
import type { Request } from "./world.ts";

/** Where two values differ: the paths, with both values. */
export function differences(theirs: unknown, ours: unknown, path = ""): string[] {
  if (isContainer(theirs) && isContainer(ours) && Array.isArray(theirs) === Array.isArray(ours)) {
    const keys = new Set([...Object.keys(theirs), ...Object.keys(ours)]);
    return [...keys].flatMap((key) => differences((theirs as Json)[key], (ours as Json)[key], `${path}.${key}`));
  }
  if (Object.is(theirs, ours)) return [];
  return [`${path}\n      real: ${brief(theirs)}\n      ours: ${brief(ours)}`];
}

/** Where one refuses what the other takes, that is all there is to say. */
function codes(theirs: unknown, ours: unknown): string[] | undefined {
  const [real, own] = [theirs, ours].map((side) => (Array.isArray(side) ? (side[0] as Json) : (side as Json)));
  if (real?.["code"] === own?.["code"]) return undefined;
  return [`.code\n      real: ${brief(real)}\n      ours: ${brief(own)}`];
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function brief(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 4000 ? `${text.slice(0, 4000)}…` : text;
}

export function described({ step, request, theirs, ours, before }: Difference): string {
  const path = request?.path.replace(/\/(status|scale)$/, "") ?? "";
  const related = before.filter((r) => path.startsWith(r.path) || r.path.startsWith(path));
  return [
    `differs: ${step}`,
    ...related.map((r) => `    before: ${shown(r)}`),
    ...(request ? [`    now:    ${shown(request)}`] : []),
    ...(codes(theirs, ours) ?? differences(theirs, ours)).map((line) => `    at ${line}`),
  ].join("\n");
}

function shown({ method, path, body, extras }: Request): string {
  const query = new URLSearchParams(extras.query).toString();
  const type = extras.headers?.["content-type"]?.replace("application/", "") ?? "";
  return `${method} ${path}${query === "" ? "" : `?${query}`} ${type} ${body === undefined ? "" : JSON.stringify(body)}`;
}
