/** A JSON object whose fields are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for a JSON object; false for an array and for null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at this path of fields, or undefined. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const field of path) here = isObject(here) ? here[field] : undefined;
  return here;
}

/** The string at this path of fields, or undefined. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === "string" ? found : undefined;
}

/** A request's body as JSON; undefined if it is none. */
export async function bodyOf(request: { text(): Promise<string> }): Promise<unknown> {
  try {
    return JSON.parse(await request.text()) as unknown;
  } catch {
    return undefined;
  }
}
