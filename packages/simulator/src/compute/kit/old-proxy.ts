import { isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import type { Question, Reply } from "../../kernel/ask.ts";
import type { Caller } from "../../kernel/interface.ts";
import { computeError, notInThisVersion, type ComputeParts } from "../model.ts";
import type { ComputeContext } from "../views.ts";

/** The caller of a route that a version removed: 2.36 for most proxies of another service. Throws 404 after it. */
export function callerUntil(c: ComputeContext, goneAt = 36): Caller {
  if (c.get("minor") >= goneAt) throw notInThisVersion();
  return c.get("caller");
}

/**
 * Asks another service; throws what `refusals` make of its status: [Nova's status, Nova's words or else the service's
 * own].
 */
export async function asked(
  { ask }: ComputeParts,
  { service, refusals = {}, ...question }: Question & { service: string; refusals?: Refusals },
): Promise<JsonObject> {
  const { status, body } = await ask(service, question);
  if (status < 400) return isObject(body) ? body : {};
  const [code, words] = refusals[status] ?? [status];
  throw computeError(code, words ?? wordsOf({ status, body }));
}

/** By the other service's status: the status that Nova responds with, and its message if it has one of its own. */
export type Refusals = Readonly<Record<number, readonly [number, string?]>>;

/** The message of a refusal, wherever a service writes it. */
function wordsOf({ body }: Reply): string {
  const one = isObject(body) ? Object.values(body)[0] : undefined;
  return textAt(one, "message") ?? "The service did not say why.";
}

/** The objects of a list response: those in `field`; none if it is not a list. */
export const rowsOf = (answer: JsonObject, field: string): readonly JsonObject[] => {
  const rows: unknown = answer[field];
  return Array.isArray(rows) ? rows.filter(isObject) : [];
};
