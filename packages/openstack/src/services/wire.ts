import { CausewayError, isRecord } from "@causeway/foundation";

/** The object in the envelope `{[key]: {…}}`, or the body itself where a service has no envelope (key ""). */
export function objectIn<T>(body: unknown, key: string): T {
  const object = key === "" ? body : isRecord(body) ? body[key] : undefined;
  if (!isRecord(object)) throw unexpected(key);
  return object as T;
}

/** The list in the envelope `{[key]: […]}`. */
export function listIn<T>(body: unknown, key: string): T[] {
  const list = isRecord(body) ? body[key] : undefined;
  if (!Array.isArray(list) || !list.every(isRecord)) throw unexpected(key);
  return list as T[];
}

/**
 * The query of the next page, or undefined. Services give it as `{key}_links: [{rel: "next", href}]`, `links` or
 * `next`. Only the query is read from the link: its host may be one that is not reachable, or not to be trusted.
 */
export function nextQuery(body: unknown, key: string): string | undefined {
  if (!isRecord(body)) return undefined;
  const links = body[`${key}_links`] ?? body["links"];
  const next: unknown = Array.isArray(links) ? links.find((l) => isRecord(l) && l["rel"] === "next") : undefined;
  const href = isRecord(next) ? next["href"] : body["next"];
  if (typeof href !== "string") return undefined;
  return new URL(href, "http://localhost").search.slice(1) || undefined;
}

function unexpected(key: string): CausewayError {
  const wanted = key === "" ? "an object" : `"${key}"`;
  return new CausewayError(
    "OPENSTACK_UNEXPECTED_ANSWER",
    `The service's response has no ${wanted} where the API has it.`,
    {
      hint: "Something other than the service may respond at its address; check the catalog's endpoint.",
    },
  );
}
