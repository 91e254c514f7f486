import { createHash } from "node:crypto";

/** One word for the whole of a map of ids to names, however it came about. */
export function digestOf(names: ReadonlyMap<string, string>): string {
  const lines = [...names].map(([id, name]) => `${id} ${name}`).sort();
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}
