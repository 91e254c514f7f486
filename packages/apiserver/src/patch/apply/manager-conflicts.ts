import { type FieldSet, isEmpty, printedPaths } from "./field-set.ts";
import { sortKey, type Manager } from "./managers.ts";

/** One field that another manager owns with another value; a cause of the Status, with reason FieldManagerConflict. */
export interface ApplyConflict {
  /** The other manager as messages name it: `"kubectl" using apps/v1`. */
  readonly manager: string;
  /** ".spec.replicas" */
  readonly field: string;
  /** `conflict with "kubectl" using apps/v1` */
  readonly message: string;
}

/** One conflict for each contested field, in a fixed order of managers. */
export function conflictsOf(sets: readonly (readonly [Manager, FieldSet])[]): ApplyConflict[] {
  return sets
    .filter(([, fields]) => !isEmpty(fields))
    .toSorted(([a], [b]) => (sortKey(a) < sortKey(b) ? -1 : 1))
    .flatMap(([manager, fields]) => {
      const name = describe(manager);
      return printedPaths(fields).map((field) => ({ manager: name, field, message: `conflict with ${name}` }));
    });
}

function describe(manager: Manager): string {
  const subresource = manager.subresource === "" ? "" : ` with subresource ${JSON.stringify(manager.subresource)}`;
  const version = manager.operation === "Update" ? ` using ${manager.apiVersion}` : "";
  return JSON.stringify(manager.name) + subresource + version;
}

/** The message of the 409 that refuses an apply, as kubectl shows it. */
export function applyConflictMessage(conflicts: readonly ApplyConflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${first.manager}: ${first.field}`;
  }
  const lines = [...Map.groupBy(conflicts, ({ manager }) => manager)].flatMap(([manager, own]) => [
    `conflicts with ${manager}:`,
    ...own.map(({ field }) => `- ${field}`),
  ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}
