import { at, isRecord, records, text, type Json } from "../json/json.ts";
import { followFieldPath } from "../schema/index.ts";
import { invalidValue, required } from "../errors/problems.ts";
import type { FieldProblem } from "../errors/status.ts";

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const SELECTABLE_TYPES = ["string", "boolean", "integer"];
const MOST_SELECTABLE = 8;

/** What is wrong with a version's subresources. */
export function subresourceProblems(subresources: Json, field: string): FieldProblem[] {
  const { scale } = subresources;
  if (!isRecord(scale)) return [];
  const mandatory = (name: string, below: string): FieldProblem[] => {
    const path = text(scale[name]);
    return path === "" ? [required(`${field}.scale.${name}`)] : pathProblems(path, `${field}.scale.${name}`, [below]);
  };
  const selector = text(scale["labelSelectorPath"]);
  return [
    ...mandatory("specReplicasPath", ".spec"),
    ...mandatory("statusReplicasPath", ".status"),
    ...(selector === "" ? [] : pathProblems(selector, `${field}.scale.labelSelectorPath`, [".spec", ".status"])),
  ];
}

function pathProblems(path: string, field: string, below: readonly string[]): FieldProblem[] {
  if (!path.startsWith(".")) return [invalidValue(field, path, "must be a simple json path starting with .")];
  if (below.some((root) => path.startsWith(`${root}.`))) return [];
  const where = below.length === 1 ? below[0] : `either ${below.join(" or ")}`;
  return [invalidValue(field, path, `should be a json path under ${where}`)];
}

/** What is wrong with printer columns. */
export function columnProblems(columns: unknown, field: string): FieldProblem[] {
  return records(columns).flatMap((column, i) => {
    const here = `${field}[${i}]`;
    const problems: FieldProblem[] = [];
    const [type, format, path] = [text(column["type"]), text(column["format"]), text(column["jsonPath"])];
    const types = `must be one of ${COLUMN_TYPES.join(",")}`;
    if (!text(column["name"])) problems.push(required(`${here}.name`));
    if (type === "") problems.push(required(`${here}.type`, types));
    else if (!COLUMN_TYPES.includes(type)) problems.push(invalidValue(`${here}.type`, type, types));
    if (format !== "" && !COLUMN_FORMATS.includes(format)) {
      problems.push(invalidValue(`${here}.format`, format, `must be one of ${COLUMN_FORMATS.join(",")}`));
    }
    if (path === "") problems.push(required(`${here}.JSONPath`));
    else if (!path.startsWith(".")) {
      problems.push(invalidValue(`${here}.JSONPath`, path, "must be a simple json path starting with ."));
    }
    return problems;
  });
}

/** What is wrong with a version's selectableFields. */
export function selectableProblems(version: Json, field: string): FieldProblem[] {
  const selectable = records(version["selectableFields"]);
  const schema = at(version, "schema", "openAPIV3Schema");
  const paths = new Set<string>();
  const problems = selectable.flatMap((entry, i) => {
    const here = `${field}[${i}].jsonPath`;
    const path = text(entry["jsonPath"]);
    if (path === "") return [required(here)];
    const found = followFieldPath(schema, path, false);
    if (typeof found === "string") return [invalidValue(here, path, `is an invalid path: ${found}`)];
    const wrong: FieldProblem[] = [];
    if (found.first === "metadata") {
      wrong.push(invalidValue(here, path, "must not point to fields in metadata"));
    }
    if (!SELECTABLE_TYPES.includes(found.type)) {
      const why =
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
      wrong.push(invalidValue(here, path, why));
    }
    if (paths.has(found.path)) {
      wrong.push({ field: here, message: `Duplicate value: ${JSON.stringify(path)}`, reason: "FieldValueDuplicate" });
    }
    paths.add(found.path);
    return wrong;
  });
  if (paths.size <= MOST_SELECTABLE) return problems;
  const message = `Too many: ${paths.size}: must have at most ${MOST_SELECTABLE} items`;
  return [...problems, { field, message, reason: "FieldValueTooMany" }];
}
