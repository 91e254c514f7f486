import type { ContractReference } from "./kind-table.ts";

/** The kind of a template is the kind of its objects with this suffix (Cluster API contract). */
const templateEnding = "Template";

/** The kind that a template's clones are of: its own kind without "Template". */
export function cloneKind(
  reference: Pick<ContractReference, "apiGroup" | "kind">,
): Pick<ContractReference, "apiGroup" | "kind"> {
  const { apiGroup, kind } = reference;
  return { apiGroup, kind: kind.endsWith(templateEnding) ? kind.slice(0, -templateEnding.length) : kind };
}
