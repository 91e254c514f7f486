import { CausewayError } from "@causeway/foundation";
import { MAXIMUM_BODY } from "../bounds.ts";
import { isList, isMembers, isObject, type Json, type Node, own, put } from "../json/values.ts";
import { isIndex, TooDeep, Tree } from "./shared-tree.ts";

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
 * What operations may cost in all, in visited members: one on a long list moves what is behind its place, and a test
 * counts members. Ten thousand operations on lists of ten thousand items remain below it.
 */
const MAXIMUM_WORK = 1_000_000;
/** Items that are moved at the cost of one visited member. */
const MOVED_AT_ONCE = 160;

/**
 * Applies a JSON Patch (RFC 6902) and returns the new document; the given one is not changed, and nothing is returned
 * if one operation fails. Throws PATCH_MALFORMED when `operations` is no JSON Patch, PATCH_FAILED when one cannot be
 * applied or copies add more than a request may have, and PATCH_TOO_LARGE for too many operations, for those that cost
 * too much, and for too large a result; `details.index` names the operation.
 */
export function applyJsonPatch(document: unknown, operations: unknown): unknown {
  if (!isList(operations)) throw malformed(-1, "a JSON patch is a list of operations");
  if (operations.length > MAXIMUM_OPERATIONS) {
    throw tooLarge(
      -1,
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAXIMUM_OPERATIONS}, got ${operations.length}`,
    );
  }
  const patch = new PatchedDocument(document as Node);
  for (const [index, operation] of operations.map(parseOperation).entries()) patch.perform(operation, index);
  return patch.result();
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

/** A document while operations change it: each costs as much as its path, and what it adds. */
class PatchedDocument {
  readonly #tree: Tree;
  #copied = 0;
  #work = 0;

  constructor(document: Node) {
    this.#tree = new Tree(document, (work) => (this.#work += work));
  }

  /** The document, of which no part is one of the given values, or is in two places. */
  result(): Node {
    const bytes = this.#sizeOf(this.#tree.root, () => failed(-1, [], "the patched object has too many levels"));
    if (bytes > MAXIMUM_BODY) throw tooLarge(-1, `the patched object is larger than ${MAXIMUM_BODY} bytes`);
    return this.#tree.separate();
  }

  perform({ op, path, from, value }: Operation, index: number): void {
    switch (op) {
      case "add":
        return this.#add(path, value as Node, index);
      case "remove":
        this.#remove(path, index);
        return;
      case "replace":
        this.#valueAt(path, index);
        return this.#replace(path, value as Node);
      case "test":
        return this.#test(path, value, index);
      case "copy":
        return this.#add(path, this.#copyOf(from, index), index);
      case "move":
        return this.#move(from, path, index);
    }
  }

  #add(path: readonly string[], value: Node, index: number): void {
    const [step] = path.slice(-1);
    if (step === undefined) {
      this.#tree.root = value;
      return;
    }
    const parent = this.#changed(path.slice(0, -1), index);
    if (isMembers(parent)) return put(parent, step, value);
    if (!Array.isArray(parent)) throw failed(index, path, "its parent is neither object nor list");
    if (step !== "-" && !isIndex(step, parent.length)) throw failed(index, path, "no such place in the list");
    const place = step === "-" ? parent.length : Number(step);
    this.#spend((parent.length - place) / MOVED_AT_ONCE, index);
    parent.splice(place, 0, value);
  }

  #remove(path: readonly string[], index: number): Node {
    const removed = this.#find(path, index);
    const [step] = path.slice(-1);
    if (step === undefined) {
      this.#tree.root = null;
      return removed;
    }
    const parent = this.#changed(path.slice(0, -1), index);
    if (isMembers(parent)) delete parent[step];
    if (Array.isArray(parent)) {
      this.#spend((parent.length - Number(step)) / MOVED_AT_ONCE, index);
      parent.splice(Number(step), 1);
    }
    return removed;
  }

  #replace(path: readonly string[], value: Node): void {
    const [step] = path.slice(-1);
    if (step === undefined) this.#tree.root = value;
    else {
      const parent = this.#changed(path.slice(0, -1), -1);
      if (isMembers(parent)) put(parent, step, value);
      else if (Array.isArray(parent)) parent[Number(step)] = value;
    }
  }

  #test(path: readonly string[], value: Json, index: number): void {
    if (!this.#isSame(this.#valueAt(path, index), value, index))
      throw failed(index, path, "the value is not the expected one");
  }

  #isSame(found: Node, value: Json, index: number): boolean {
    if (!isMembers(found) || !isObject(value)) {
      if (!Array.isArray(found) || !isList(value)) return found === value;
      return found.length === value.length && found.every((item, i) => this.#isSame(item, value[i] ?? null, index));
    }
    const keys = Object.keys(found);
    // All members of the one are counted, however few the other has.
    this.#spend(keys.length, index);
    if (keys.length !== Object.keys(value).length) return false;
    return keys.every(
      (key) => Object.hasOwn(value, key) && this.#isSame(found[key] ?? null, value[key] ?? null, index),
    );
  }

  #copyOf(from: readonly string[], index: number): Node {
    const found = this.#valueAt(from, index);
    this.#tree.share(found);
    this.#copied += this.#sizeOf(found, () => failed(index, from, "the value has too many levels"));
    if (this.#copied > MAXIMUM_BODY) throw failed(index, from, `copies add more than ${MAXIMUM_BODY} bytes`);
    return found;
  }

  #sizeOf(node: Node, tooDeep: () => CausewayError): number {
    try {
      return this.#tree.bytesOf(node);
    } catch (error) {
      throw error instanceof TooDeep ? tooDeep() : error;
    }
  }

  #move(from: readonly string[], path: readonly string[], index: number): void {
    this.#find(from, index);
    if (!isPrefix(from, path)) return this.#add(path, this.#remove(from, index), index);
    if (from.length !== path.length) throw failed(index, path, "a value cannot move into itself");
  }

  #find(path: readonly string[], index: number): Node {
    const found = this.#tree.at(path);
    if (found === undefined) throw failed(index, path, "no such value");
    return found;
  }

  /** What is at a path, for a change of its members. */
  #changed(path: readonly string[], index: number): Node {
    this.#find(path, index);
    const changed = this.#tree.own(path);
    this.#spend(0, index);
    return changed;
  }

  /** As kube-apiserver takes it: a member that an object does not have is null, but to those who remove it. */
  #valueAt(path: readonly string[], index: number): Node {
    const parent = path.length === 0 ? this.#tree.root : this.#find(path.slice(0, -1), index);
    const isMissing = path.length > 0 && isMembers(parent) && !Object.hasOwn(parent, path.at(-1) ?? "");
    return isMissing ? null : this.#find(path, index);
  }

  #spend(work: number, index: number): void {
    this.#work += work;
    if (this.#work > MAXIMUM_WORK) throw tooLarge(index, "the operations cost too much; use another type of patch");
  }
}

function isPrefix(prefix: readonly string[], path: readonly string[]): boolean {
  return prefix.every((step, i) => path[i] === step);
}

function malformed(index: number, message: string): CausewayError {
  const where = index < 0 ? "" : `operation ${index}: `;
  return new CausewayError("PATCH_MALFORMED", where + message, { details: { index } });
}

function tooLarge(index: number, message: string): CausewayError {
  const where = index < 0 ? "" : `operation ${index}: `;
  return new CausewayError("PATCH_TOO_LARGE", where + message, { details: { index } });
}

function failed(index: number, path: readonly string[], message: string): CausewayError {
  const pointer = path.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return new CausewayError("PATCH_FAILED", `operation ${index} at "${pointer}": ${message}`, {
    details: { index, path: pointer },
  });
}
