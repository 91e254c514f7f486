import { isObject, type Json, type JsonObject, own } from "../json/values.ts";
import { compileRules, hasRules } from "./cel/rules.ts";
import { defaultValue } from "./defaulting.ts";
import { type Embedded, embeddedIn } from "./embedded.ts";
import { below, invalid, type FieldError } from "./field-error.ts";
import { listProblems } from "./lists.ts";
import { readNode, type SchemaNode } from "./node.ts";
import { pruneValue, rootPlace, unknownPaths } from "./prune.ts";
import { mergeTypeOf, type MergeType } from "./merge-type.ts";
import { validateValue } from "./validate.ts";

/** Errors about a value's form, which kube-apiserver separates from those about its content. */
const BLOCKING: ReadonlySet<string> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);
const UNCHECKED = invalid(
  "<nil>",
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
);

/** What is known around an object that is judged. */
export interface Judged {
  /**
   * What was there before: transition rules hold too, and what was wrong before and did not change is let through.
   */
  readonly old?: unknown;
  /** Called for rules that an unchanged value breaks. */
  readonly warn?: (message: string) => void;
  /** A status that is written alone is judged alone, but for lists and rules. */
  readonly isStatus?: boolean;
  /** What is wrong with the object beyond its schema: rules do not run on objects whose form is wrong. */
  readonly others?: readonly FieldError[];
}

/** What a custom resource's schema does with its objects. Nothing here changes its argument. */
export interface CompiledSchema {
  /** Without the fields that the schema does not specify; apiVersion, kind and metadata always remain. */
  prune<T>(object: T): T;
  /** Paths of the fields that `prune` would drop: "spec.foo". */
  unknownFields(object: unknown): string[];
  /** With defaults filled in, at every depth that exists. */
  default<T>(object: T): T;
  /**
   * The same for what server-side apply made: nulls that are not allowed remain, and are found when it is validated.
   */
  defaultApplied<T>(object: T): T;
  /** All that is wrong, CEL rules included; empty is valid. */
  validate(object: unknown, about?: Judged): FieldError[];
  /** The objects within an object, each with its place. */
  embedded(object: unknown): readonly Embedded[];
  /** How server-side apply merges the parts of an object. */
  readonly type: MergeType;
}

/**
 * Reads an `openAPIV3Schema` of a CustomResourceDefinition v1 version; `validateSchema` says whether it is a good one.
 */
export function compileSchema(openAPIV3Schema: unknown): CompiledSchema {
  const root: SchemaNode = readNode(openAPIV3Schema);
  const rules = compileRules(root);
  const at = rootPlace(true);
  return {
    prune: <T>(object: T) => pruneValue(root, object as Json, at, () => {}) as T,
    unknownFields: (object) => unknownPaths(root, object as Json),
    default: <T>(object: T) => defaultValue(root, object as Json) as T,
    defaultApplied: <T>(object: T) => defaultValue(root, object as Json, "kept") as T,
    validate: (object, { old, warn = () => {}, isStatus = false, others = [] } = {}) => {
      const change = { value: object as Json, old: old as Json | undefined };
      const form = isStatus ? statusErrors(root, change) : validateValue(root, change.value, "", { old: change.old });
      const errors = [...others, ...form, ...newListProblems(root, change)];
      // Rules may trust the form that the schema promises, so they run on values that have it.
      if (errors.some((e) => BLOCKING.has(e.reason))) return hasRules(root) ? [...errors, UNCHECKED] : errors;
      return [...errors, ...rules(change.value, change.old as JsonObject | undefined, { warn })];
    },
    embedded: (object) => embeddedIn(root, object as Json, ""),
    type: mergeTypeOf(root, true),
  };
}

interface Change {
  readonly value: Json;
  readonly old: Json | undefined;
}

/** Judged by itself, so that messages name its fields from there. */
function statusErrors(root: SchemaNode, { value, old }: Change): FieldError[] {
  const node = root.properties.get("status");
  const status = isObject(value) ? own(value, "status") : undefined;
  if (!node || status === undefined) return [];
  const errors = validateValue(node, status, "", { old: isObject(old) ? own(old, "status") : undefined });
  return errors.map((e) => ({ ...e, field: below("status", e.field) }));
}

/** Lists whose items were no set or map before may remain so (KEP-4008). */
function newListProblems(root: SchemaNode, { value, old }: Change): FieldError[] {
  const problems = listProblems(root, value, "");
  if (old === undefined || problems.length === 0) return problems;
  return listProblems(root, old, "").length > 0 ? [] : problems;
}
