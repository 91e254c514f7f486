import { CausewayError } from "@causeway/foundation";
import { isList, isObject, type Json, type JsonObject, jsonEqual, own, withKey, withoutKey } from "./json.ts";

const OPERATIONS = ["add", "remove", "replace", "move", "copy", "test"] as const;
/** As many as kube-apiserver takes in one request. */
const MAXIMUM_OPERATIONS = 10_000;

interface Operation {
  readonly op: (typeof OPERATIONS)[number];
  readonly path: readonly string[];
  readonly from: readonly string[];
  readonly value: Json;
}

/**
 * Applies a JSON Patch (RFC 6902) and returns the new document; the given one is not changed, and nothing is returned if one operation fails.
 * Throws PATCH_MALFORMED when `operations` is no JSON Patch and PATCH_FAILED when one cannot be applied; `details.index` names the operation.
 */
export function applyJsonPatch(document: unknown, operations: unknown): unknown {
  if (!isList(operations)) throw malformed(-1, "a JSON patch is a list of operations");
  if (operations.length > MAXIMUM_OPERATIONS) {
    throw malformed(
      -1,
      `The allowed maximum operations in a JSON patch is ${MAXIMUM_OPERATIONS}, got ${operations.length}`,
    );
  }
  const parsed = operations.map(parseOperation);
  let result = document as Json;
  for (const [index, operation] of parsed.entries()) result = perform(result, operation, index);
  return result;
}

function parseOperation(operation: Json, index: number): Operation {
  if (!isObject(operation)) throw malformed(index, "an operation is an object");
  const op = OPERATIONS.find((name) => name === own(operation, "op"));
  if (op === undefined) throw malformed(index, `unknown operation ${JSON.stringify(own(operation, "op") ?? null)}`);
  // As kube-apiserver takes it: no value is null. Who tests for none has nothing to test.
  const value = own(operation, "value");
  if (value === undefined && op === "test") throw malformed(index, 'operation "test" needs a "value"');
  const from = op === "move" || op === "copy" ? parsePointer(own(operation, "from"), "from", index) : [];
  return { op, path: parsePointer(own(operation, "path"), "path", index), from, value: value ?? null };
}

/** The steps of a JSON Pointer (RFC 6901). */
function parsePointer(pointer: Json | undefined, member: string, index: number): string[] {
  if (typeof pointer !== "string") throw malformed(index, `"${member}" must be a JSON pointer`);
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) throw malformed(index, `"${member}" must start with "/": ${JSON.stringify(pointer)}`);
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function perform(document: Json, operation: Operation, index: number): Json {
  const { op, path, from, value } = operation;
  switch (op) {
    case "add":
      return add(document, path, value, index);
    case "remove":
      return remove(document, path, index);
    case "replace":
      orNull(document, path, index);
      return path.length === 0 ? value : change(document, path, (parent, step) => replaceIn(parent, step, value));
    case "test":
      if (!jsonEqual(orNull(document, path, index), value))
        throw failed(index, path, "the value is not the expected one");
      return document;
    case "copy":
      // A value of its own: who reads the result may change one of the two.
      return add(document, path, structuredClone(orNull(document, from, index)), index);
    case "move": {
      const moved = lookUp(document, from, index);
      if (isPrefix(from, path)) {
        if (from.length === path.length) return document;
        throw failed(index, path, "a value cannot move into itself");
      }
      return add(remove(document, from, index), path, moved, index);
    }
  }
}

function add(document: Json, path: readonly string[], value: Json, index: number): Json {
  if (path.length === 0) return value;
  const parent = lookUp(document, path.slice(0, -1), index);
  const last = path.at(-1) ?? "";
  if (isList(parent) && last !== "-" && !isIndex(last, parent.length))
    throw failed(index, path, "no such place in the list");
  if (!isList(parent) && !isObject(parent)) throw failed(index, path, "its parent is neither object nor list");
  return change(document, path, (container, step) => {
    if (isObject(container)) return withKey(container, step, value);
    return container.toSpliced(step === "-" ? container.length : Number(step), 0, value);
  });
}

function remove(document: Json, path: readonly string[], index: number): Json {
  lookUp(document, path, index);
  if (path.length === 0) return null;
  return change(document, path, (container, step) =>
    isObject(container) ? withoutKey(container, step) : container.toSpliced(Number(step), 1),
  );
}

function replaceIn(container: JsonObject | readonly Json[], step: string, value: Json): Json {
  return isObject(container) ? withKey(container, step, value) : container.with(Number(step), value);
}

type Edit = (container: JsonObject | readonly Json[], step: string) => Json;

/** Rebuilds the containers along a path that is known to exist. */
function change(node: Json, path: readonly string[], edit: Edit): Json {
  if (!isObject(node) && !isList(node)) return node;
  const [step = "", ...rest] = path;
  if (rest.length === 0) return edit(node, step);
  const child = isObject(node) ? own(node, step) : node[Number(step)];
  return replaceIn(node, step, change(child ?? null, rest, edit));
}

function lookUp(document: Json, path: readonly string[], index: number): Json {
  let node: Json = document;
  for (const step of path) {
    const child: Json | undefined = isObject(node)
      ? own(node, step)
      : isList(node) && isIndex(step, node.length - 1)
        ? node[Number(step)]
        : undefined;
    if (child === undefined) throw failed(index, path, "no such value");
    node = child;
  }
  return node;
}

/** As kube-apiserver takes it: a member that an object does not have is null, but to those who remove it. */
function orNull(document: Json, path: readonly string[], index: number): Json {
  const parent = path.length === 0 ? document : lookUp(document, path.slice(0, -1), index);
  const isMissing = path.length > 0 && isObject(parent) && own(parent, path.at(-1) ?? "") === undefined;
  return isMissing ? null : lookUp(document, path, index);
}

function isIndex(step: string, maximum: number): boolean {
  return /^(0|[1-9]\d{0,8})$/.test(step) && Number(step) <= maximum;
}

function isPrefix(prefix: readonly string[], path: readonly string[]): boolean {
  return prefix.every((step, i) => path[i] === step);
}

function malformed(index: number, message: string): CausewayError {
  const where = index < 0 ? "" : `operation ${index}: `;
  return new CausewayError("PATCH_MALFORMED", where + message, { details: { index } });
}

function failed(index: number, path: readonly string[], message: string): CausewayError {
  const pointer = path.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return new CausewayError("PATCH_FAILED", `operation ${index} at "${pointer}": ${message}`, {
    details: { index, path: pointer },
  });
}
