import type { Draft, ResourceVersion } from "../contract/resource.ts";

/** With the defaults of the version's schema, if it has one. */
export function withDefaults(
  { schema }: ResourceVersion,
  draft: Draft,
  from: "written" | "applied" = "written",
): Draft {
  if (!schema) return draft;
  return from === "applied" ? schema.defaultApplied(draft) : schema.default(draft);
}
