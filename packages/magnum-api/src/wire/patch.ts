import { isRecord } from "@causeway/foundation";
import { invalid } from "./error.ts";
import { LiteralError, pythonRepr, readLiteral } from "./python.ts";

/** One operation of Magnum's dialect of JSON patch. */
export interface Operation {
  readonly path: string;
  readonly op: "add" | "replace" | "remove";
  readonly value?: unknown;
}

type Document = Readonly<Record<string, unknown>>;

/** Paths that `readPatch` refuses, such as "/status", in addition to those of every resource. */
export interface PatchRules {
  /** Attributes that no patch touches. */
  readonly internal: readonly string[];
  /** Attributes that may not be removed. */
  readonly mandatory: readonly string[];
}

const MOST_OPERATIONS = 200;
const PATH = /^(\/[\w-]+)+$/;
const everywhere = ["/created_at", "/id", "/links", "/updated_at", "/uuid", "/project_id", "/user_id"];
const literals = ["/labels", "/health_status_reason", "/node_labels", "/node_taints"];

const wrong = (name: string, value: unknown, why: string) =>
  invalid(
    `Invalid input for field/attribute ${name}. Value: '${typeof value === "string" ? value.slice(0, 500) : pythonRepr(value)}'. ${why}`,
  );

/** The operations of a body. @throws MagnumError 400 */
export function readPatch(body: unknown, rules: PatchRules): readonly Operation[] {
  if (body === undefined) throw invalid('Missing argument: "patch"');
  if (!Array.isArray(body)) throw wrong("patch", body, `Value not a valid list: ${pythonRepr(body)}`);
  if (body.length > MOST_OPERATIONS)
    throw wrong("patch", `${body.length} operations`, `At most ${MOST_OPERATIONS} are accepted`);
  return body.map((each: unknown) => readOperation(each, rules));
}

function refuseUnknown(names: readonly string[]): void {
  const unknown = names.find((name) => !["path", "op", "value"].includes(name));
  if (unknown !== undefined) throw invalid(`Unknown attribute for argument patch: ${unknown.slice(0, 100)}`);
}

function readOperation(given: unknown, { internal, mandatory }: PatchRules): Operation {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw wrong("patch", given, `Value not a valid object: ${pythonRepr(given)}`);
  refuseUnknown(Object.keys(given));
  const { path, op, value } = given as Record<string, unknown>;
  if (path === undefined || path === null) throw wrong("path", path, "Mandatory field missing.");
  if (op === undefined || op === null) throw wrong("op", op, "Mandatory field missing.");
  if (typeof path !== "string" || path.length > 1024 || !PATH.test(path))
    throw wrong("path", path, "Value should match the pattern ^(/[\\w-]+)+$");
  if (op !== "add" && op !== "replace" && op !== "remove")
    throw wrong("op", op, "Value should be one of: remove, replace, add");
  if ([...everywhere, ...internal].includes(path))
    throw invalid(`'${path}' is an internal attribute and can not be updated`);
  if (op === "remove" && mandatory.includes(path))
    throw invalid(`'${path}' is a mandatory attribute and can not be removed`);
  if (op === "remove") return { path, op };
  requireValue(value);
  return { path, op, value };
}

function requireValue(value: unknown): void {
  if (value === undefined || value === null) throw invalid("'add' and 'replace' operations needs value");
  // The words are Python's.
  if (typeof value === "number" && !Number.isInteger(value))
    throw wrong("value", value, "Wrong type. Expected '(<class 'str'>, <class 'int'>)', got '<class 'float'>'");
}

/**
 * The document after the patch; the one given is not changed. Attributes that are null count as absent for "add".
 * @throws MagnumError 400
 */
export function applyPatch(document: Document, patch: readonly Operation[]): Document {
  const result: Record<string, unknown> = structuredClone(document) as Record<string, unknown>;
  for (const operation of patch) applyOne(result, operation, patch);
  return result;
}

function applyOne(result: Record<string, unknown>, operation: Operation, patch: readonly Operation[]): void {
  const { path, op } = operation;
  const [attribute = "", ...rest] = path.slice(1).split("/");
  const failed = (reason: string) => invalid(`Couldn't apply patch '${pythonRepr(patch)}'. Reason: ${reason}`);
  if (rest.length === 0) {
    const isKnown = Object.hasOwn(result, attribute);
    if (op === "add" && !isKnown)
      throw invalid(`Adding a new attribute ${path} to the root of the resource is not allowed.`);
    if (op === "add" && result[attribute] !== null)
      throw invalid(`The attribute ${path} has existed, please use 'replace' operation instead.`);
    if (!isKnown) {
      throw failed(
        op === "remove"
          ? `can't remove a non-existent object '${attribute}'`
          : `can't replace a non-existent object '${attribute}'`,
      );
    }
    result[attribute] = op === "remove" ? null : literalAt(path, operation.value, failed);
    return;
  }
  if (rest.length > 1 || !isRecord(result[attribute]))
    throw failed(`member '${rest.join("/")}' not found in ${pythonRepr(result[attribute])}`);
  const [key = ""] = rest;
  const target = result[attribute];
  if (op !== "add" && !Object.hasOwn(target, key)) throw failed(`can't ${op} a non-existent object '${key}'`);
  const others = Object.entries(target).filter(([name]) => name !== key);
  result[attribute] = Object.fromEntries(op === "remove" ? others : [...others, [key, operation.value]]);
}

function literalAt(path: string, value: unknown, failed: (reason: string) => Error): unknown {
  if (!literals.includes(path) || typeof value !== "string") return value;
  try {
    return readLiteral(value);
  } catch (error) {
    throw error instanceof LiteralError ? failed(error.message) : error;
  }
}
