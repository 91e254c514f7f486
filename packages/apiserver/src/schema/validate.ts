import { extended } from "../bounds.ts";
import { isList, isObject, type Json, jsonEqual, type JsonObject } from "../json/values.ts";
import { isUnchanged, type Memory, oldItems, oldMember } from "./correlate.ts";
import { type FieldError, fieldAt, invalid, item, notSupported, required, tooMany } from "./field-error.ts";
import { knownFormat } from "./formats.ts";
import type { SchemaNode } from "./node.ts";
import { formatFault, hasType, numberFaults, stringFault, typeFault } from "./scalars.ts";

/** What is known around a value. */
interface Around {
  /** What was there before: a value that did not change is not judged again. */
  readonly old?: Json | undefined;
}

/**
 * What has been found so far. `checks` counts what go-openapi's validators count of a value, right or wrong: of several
 * alternatives that do not hold, the error is about the one that matches most.
 */
interface Run {
  readonly errors: FieldError[];
  checks: number;
  /** The checks count, so that nothing may be passed over. */
  readonly isCounted: boolean;
  readonly shared: Shared;
}

/** What all judging of one object has in common. */
interface Shared {
  readonly memory: Memory;
  /** Pairs of a value and a schema that may still be checked. */
  left: number;
}

/**
 * As many errors as are collected, and pairs of a value and one of several schemas that are checked: a schema may
 * have thousands of them.
 */
const [MAXIMUM_ERRORS, MAXIMUM_PAIRS] = [1000, 500_000];

interface Place extends Around {
  readonly path: string;
}

/**
 * Everything in `value` that the schema does not allow, but for lists' items that are there twice and the CEL rules; in
 * kube-apiserver's words.
 */
export function validateValue(node: SchemaNode, value: Json, path: string, at: Around = {}): FieldError[] {
  const shared = { memory: new Map(), left: MAXIMUM_PAIRS };
  const run: Run = { errors: [], checks: 0, isCounted: false, shared };
  judge(run, node, value, { path, old: at.old });
  if (shared.left >= 0) return run.errors;
  return [...run.errors, invalid("<nil>", "", "the object is too large for the alternatives of its schema")];
}

/** An update may keep what the schema refuses by now (KEP-4008). */
function judge(run: Run, node: SchemaNode, value: Json, at: Place): void {
  if (run.errors.length >= MAXIMUM_ERRORS) return;
  const { memory } = run.shared;
  if (at.old === undefined || !isUnchanged(node, { value, old: at.old }, memory)) return check(run, node, value, at);
  if (!run.isCounted) return;
  const own = counted(run);
  check(own, node, value, at);
  run.checks += own.checks;
}

function counted({ shared }: Run): Run {
  return { errors: [], checks: 0, isCounted: true, shared };
}

function check(run: Run, node: SchemaNode, value: Json, at: Place): void {
  const { path } = at;
  if (run.isCounted) run.shared.left -= 1;
  if (run.shared.left < 0) return;
  const fault = typeFault(node, value, path);
  if (fault) run.errors.push(fault);
  if (value === null) {
    run.checks += fault ? 0 : 1;
  } else {
    run.checks += 4 + (hasType(node) ? (fault ? 1 : 2) : 0);
    checkJunctions(run, node, { ...at, value });
    checkContent(run, node, { ...at, value });
  }
  if (node.enum !== undefined && !(isText(value) ? node.texts.has(value) : isAllowed(run, node.enum, value)))
    run.errors.push(notSupported(fieldAt(path), value, node.enum));
}

/**
 * Null is never one of the values that are allowed; numbers count as what Go makes of them in the type of the value
 * that is allowed.
 */
function isAllowed(run: Run, allowed: readonly Json[], value: Json): boolean {
  if (value === null) return false;
  run.shared.left -= allowed.length / 10;
  return allowed.some((one) => {
    if (typeof value !== "number" || !Number.isInteger(value)) return jsonEqual(one, truncated(value, one));
    return one === value || (typeof one === "string" && one === character(value));
  });
}

function isText(value: Json): value is string {
  return typeof value === "string";
}

function truncated(value: Json, like: Json): Json {
  return typeof value === "number" && Number.isInteger(like) ? Math.trunc(value) : value;
}

function character(point: number): string {
  return point >= 0 && point <= 0x10ffff ? String.fromCodePoint(point) : "\uFFFD";
}

interface Judged extends Place {
  readonly value: Json;
}

function checkContent(run: Run, node: SchemaNode, { value, path, old }: Judged): void {
  if (typeof value === "string") {
    run.checks += knownFormat(node.format) ? 2 : 1;
    const faults = [stringFault(node, value, path), formatFault(node, value, path)];
    run.errors.push(...faults.filter((fault) => fault !== undefined));
  } else if (typeof value === "number") {
    run.checks += 2;
    run.errors.push(...numberFaults(node, value, path));
  } else if (isList(value)) {
    run.checks += 2;
    checkList(run, node, value, { path, old });
  } else if (isObject(value)) {
    run.checks += 1;
    checkObject(run, node, value, { path, old });
  }
}

function checkList(run: Run, node: SchemaNode, value: readonly Json[], { path, old }: Place): void {
  const { items } = node;
  if (items !== undefined) {
    const oldOf = oldItems(node, old);
    for (const [i, child] of value.entries()) {
      judge(run, items, child, { path: item(path, i), old: oldOf(child) });
    }
  }
  if (node.maxItems !== undefined && value.length > node.maxItems) {
    run.errors.push(tooMany(fieldAt(path), value.length, node.maxItems));
  }
  if (node.minItems !== undefined && value.length < node.minItems) {
    run.errors.push(
      invalid(fieldAt(path), value.length, `${path} in body should have at least ${node.minItems} items`),
    );
  }
}

function checkObject(run: Run, node: SchemaNode, value: JsonObject, { path, old }: Place): void {
  const count = Object.keys(value).length;
  if (node.maxProperties !== undefined && count > node.maxProperties) {
    run.errors.push(tooMany(fieldAt(path), count, node.maxProperties));
  }
  if (node.minProperties !== undefined && count < node.minProperties) {
    run.errors.push(
      invalid(fieldAt(path), count, `${path} in body should have at least ${node.minProperties} properties`),
    );
  }
  for (const name of node.required) {
    if (!Object.hasOwn(value, name)) run.errors.push(required(fieldAt(extended(path, `.${name}`))));
  }
  for (const [name, child] of Object.entries(value)) {
    const declared = node.properties.get(name);
    const schema = declared ?? node.additional;
    if (schema === undefined || schema === true) continue;
    // Messages name other members than those of the schema with a point even at the top.
    const below = extended(path, declared && path === "" ? name : `.${name}`);
    judge(run, schema, child, { path: below, old: oldMember(name, old) });
  }
}

function checkJunctions(run: Run, node: SchemaNode, at: Judged): void {
  const failed = (words: string): void => {
    // A value that none of several schemas allows is reported without a field.
    run.errors.push(invalid("<nil>", "", `${JSON.stringify(at.path)} ${words}`));
  };
  if (node.anyOf.length > 0 && !anyHolds(run, node.anyOf, at)) failed("must validate at least one schema (anyOf)");
  if (node.oneOf.length > 0) {
    const valid = oneHolds(run, node.oneOf, at);
    const found = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
    if (valid !== 1) failed(`must validate one and only one schema (oneOf). ${found}`);
  }
  if (node.allOf.length > 0) {
    const results = node.allOf.map((schema) => outcome(run, schema, at));
    for (const result of results) take(run, result);
    const valid = results.filter((result) => result.errors.length === 0).length;
    if (valid < results.length) failed(`must validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`);
  }
  if (node.not !== undefined && outcome(run, node.not, at).errors.length === 0)
    failed("must not validate the schema (not)");
}

function outcome(within: Run, schema: SchemaNode, { value, path, old }: Judged): Run {
  const run = counted(within);
  check(run, schema, value, { path, old });
  return run;
}

function take(run: Run, { errors, checks }: Run): void {
  for (const error of errors) run.errors.push(error);
  run.checks += checks;
}

function anyHolds(run: Run, schemas: readonly SchemaNode[], at: Judged): boolean {
  const failures: Run[] = [];
  for (const schema of schemas) {
    const result = outcome(run, schema, at);
    if (result.errors.length > 0) {
      failures.push(result);
      continue;
    }
    take(run, result);
    return true;
  }
  take(run, nearest(failures));
  return false;
}

function oneHolds(run: Run, schemas: readonly SchemaNode[], at: Judged): number {
  const results = schemas.map((schema) => outcome(run, schema, at));
  const [first, ...others] = results.filter((result) => result.errors.length === 0);
  if (first === undefined) take(run, nearest(results));
  else if (others.length === 0) take(run, first);
  return first === undefined ? 0 : 1 + others.length;
}

/** The first of the alternatives that match most: its faults are reported. */
function nearest(failures: readonly Run[]): Run {
  return failures.reduce((best, next) => (next.checks > best.checks ? next : best));
}
