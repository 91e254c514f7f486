import { extended } from "../bounds.ts";
import { goJson } from "../json/json.ts";

/** The reasons of apimachinery's field errors, as they are in `details.causes[].reason` of a Status. */
export type FieldErrorReason =
  | "FieldValueRequired"
  | "FieldValueInvalid"
  | "FieldValueTypeInvalid"
  | "FieldValueNotSupported"
  | "FieldValueDuplicate"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "InternalError";

/**
 * One thing wrong with an object. `message` does not repeat the field; `formatFieldError` joins the two as kubectl
 * shows them.
 */
export interface FieldError {
  readonly reason: FieldErrorReason;
  /** "spec.containers[0].name"; "" is the whole object. */
  readonly field: string;
  readonly message: string;
}

/** "spec.replicas: Required value", as a Status joins them. */
export function formatFieldError(error: FieldError): string {
  return `${error.field === "" ? "<nil>" : error.field}: ${error.message}`;
}

/** A field that is missing, or empty where it must not be. */
export function required(field: string, detail = ""): FieldError {
  return { reason: "FieldValueRequired", field, message: detailed("Required value", detail) };
}

/** A value that breaks a rule of its field. */
export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: detailed(`Invalid value: ${shown(value)}`, detail) };
}

/** A value of another JSON type or format than its schema has. */
export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return { reason: "FieldValueTypeInvalid", field, message: detailed(`Invalid value: ${shown(value)}`, detail) };
}

/** A value that is none of an enum's; the message lists at most 200 of them. */
export function notSupported(field: string, value: unknown, supported: readonly unknown[]): FieldError {
  const values = supported
    .slice(0, LISTED)
    .map((one) => shown(typeof one === "string" ? one : goJson(one, 1000)))
    .join(", ");
  const detail = supported.length > 0 ? `supported values: ${values}` : "";
  return { reason: "FieldValueNotSupported", field, message: detailed(`Unsupported value: ${shown(value)}`, detail) };
}

/** As many of the supported values as a message lists. */
const LISTED = 200;

/** A key or value that a list of unique items has twice. */
export function duplicate(field: string, value: unknown): FieldError {
  return { reason: "FieldValueDuplicate", field, message: `Duplicate value: ${shown(value)}` };
}

/** A field that may not be set here. */
export function forbidden(field: string, detail: string): FieldError {
  return { reason: "FieldValueForbidden", field, message: detailed("Forbidden", detail) };
}

/** More than `maximum` bytes; the value is not repeated. */
export function tooLong(field: string, maximum: number): FieldError {
  return { reason: "FieldValueTooLong", field, message: `Too long: may not be more than ${maximum} bytes` };
}

/** A list of more than `maximum` items. */
export function tooMany(field: string, actual: number, maximum: number): FieldError {
  const noun = maximum === 1 ? "item" : "items";
  return { reason: "FieldValueTooMany", field, message: `Too many: ${actual}: must have at most ${maximum} ${noun}` };
}

function detailed(head: string, detail: string): string {
  return detail === "" ? head : `${head}: ${detail}`;
}

/** Strings quoted, the rest as JSON; cut so that no error grows with the object. */
function shown(value: unknown): string {
  return goJson(value, 1000);
}

/** The path of a member of an object. */
export function member(path: string, name: string): string {
  return path === "" ? extended("", name) : extended(path, `.${name}`);
}

/** The path of an item of a list, or of a value of a map by its key. */
export function item(path: string, key: number | string): string {
  return extended(path, `[${key}]`);
}

/** The field that a path in a message represents. */
export function fieldAt(path: string): string {
  return path.startsWith(".") ? path.slice(1) : path;
}

/** The field of something that was judged by itself: what represents all of it is the place that it has. */
export function below(place: string, field: string): string {
  return field === "" || field === "<nil>" ? place : `${place}.${field}`;
}
