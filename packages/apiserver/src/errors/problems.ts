import { cutText } from "../bounds.ts";
import { goJson } from "../json/json.ts";
import type { FieldProblem } from "./status.ts";

/** Problems in the words of apimachinery's field package, so that clients can match on them. */

/** A field that is missing, or empty where it must not be. */
export function required(field: string, detail = ""): FieldProblem {
  return { field, message: `Required value${detail ? `: ${detail}` : ""}`, reason: "FieldValueRequired" };
}

/** A value that breaks a rule of its field; the message shows the first 4000 characters of it. */
export function invalidValue(field: string, value: unknown, detail: string): FieldProblem {
  return { field, message: `Invalid value: ${shown(value)}: ${detail}`, reason: "FieldValueInvalid" };
}

/** A value that is none of those a field may have. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldProblem {
  const list = supported.map((s) => JSON.stringify(s)).join(", ");
  return {
    field,
    message: `Unsupported value: ${shown(value)}: supported values: ${list}`,
    reason: "FieldValueNotSupported",
  };
}

/** A field that may not be set here. */
export function forbiddenField(field: string, detail: string): FieldProblem {
  return { field, message: `Forbidden: ${detail}`, reason: "FieldValueForbidden" };
}

/** As much of a value as messages show. */
const SHOWN = 4000;

function shown(value: unknown): string {
  return typeof value === "string" ? goJson(cutText(value, SHOWN)) : goJson(value, SHOWN);
}
