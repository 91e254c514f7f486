import { at, isRecord, type Json } from "../json/json.ts";
import { goText, goType, type JsonValue } from "../patch/index.ts";
import type { ScalePaths } from "../contract/resource.ts";
import { invalidValue } from "../errors/problems.ts";
import type { FieldProblem } from "../errors/status.ts";

const MOST = 2_147_483_647;

/**
 * What is wrong with the numbers and the selector that a kind's scale is made of; writers of a status get the faults of
 * the status.
 */
export function scaleProblems(object: Json, scale: ScalePaths, isStatus: boolean): FieldProblem[] {
  return [
    ...(isStatus ? [] : numberProblems(object, scale.specReplicas)),
    ...(scale.labelSelector ? selectorProblems(object, scale.labelSelector) : []),
    ...numberProblems(object, scale.statusReplicas),
  ];
}

function numberProblems(object: Json, path: readonly string[]): FieldProblem[] {
  const value = at(object, ...path);
  const field = `.${path.join(".")}`;
  const wrongType = pathTypeProblem(object, path, "int64");
  if (wrongType !== undefined) return [invalidValue(field, 0, wrongType)];
  if (value === undefined) return [];
  const number = value as number;
  if (number < 0) return [invalidValue(field, number, "should be a non-negative integer")];
  return number > MOST ? [invalidValue(field, number, `should be less than or equal to ${MOST}`)] : [];
}

function selectorProblems(object: Json, path: readonly string[]): FieldProblem[] {
  const wrongType = pathTypeProblem(object, path, "string");
  return wrongType === undefined ? [] : [invalidValue(`.${path.join(".")}`, "", wrongType)];
}

/** A value of another type, on the way or at its end, as Go's accessors report it. */
function pathTypeProblem(object: Json, path: readonly string[], wanted: "int64" | "string"): string | undefined {
  let here: JsonValue | undefined = object as JsonValue;
  for (const [i, name] of path.entries()) {
    if (here === null) return undefined;
    if (!isRecord(here)) {
      const way = path.slice(0, i + 1).join(".");
      return `.${way} accessor error: ${goText(here)} is of the type ${goType(here)}, expected map[string]interface{}`;
    }
    here = here[name];
    if (here === undefined) return undefined;
  }
  if (goType(here) === wanted) return undefined;
  return `.${path.join(".")} accessor error: ${goText(here)} is of the type ${goType(here)}, expected ${wanted}`;
}
