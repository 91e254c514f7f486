import type { Json, JsonObject } from "../patch/json.ts";
import { compileRules, hasRules } from "./cel/rules.ts";
import { defaultValue } from "./defaulting.ts";
import { invalid, type FieldError } from "./field-error.ts";
import { readNode, type SchemaNode } from "./node.ts";
import { pruneValue } from "./prune.ts";
import { mergeTypeOf, type MergeType } from "./merge-type.ts";
import { validateValue } from "./validate.ts";

/** Errors about a value's form, as kube-apiserver tells them from those about its content. */
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

/** What a custom resource's schema does with its objects. Nothing here changes its argument. */
export interface CompiledSchema {
  /** Without the fields that the schema does not specify; apiVersion, kind and metadata always stay. */
  prune<T>(object: T): T;
  /** Paths of the fields that `prune` would drop: "spec.foo". */
  unknownFields(object: unknown): string[];
  /** With defaults filled in, at every depth that exists. */
  default<T>(object: T): T;
  /** The same for what server-side apply made: nulls that are not allowed stay, and are found when it is validated. */
  defaultApplied<T>(object: T): T;
  /**
   * All that is wrong, CEL rules included; with `old`, transition rules too, and what was wrong before and did not change is let through:
   * `warn` is told of rules that it breaks. Empty is valid.
   */
  validate(object: unknown, old?: unknown, warn?: (message: string) => void): FieldError[];
  /** How server-side apply merges the parts of an object. */
  readonly type: MergeType;
}

/** Reads an `openAPIV3Schema` of a CustomResourceDefinition v1 version; `validateSchema` says whether it is a good one. */
export function compileSchema(openAPIV3Schema: unknown): CompiledSchema {
  const root: SchemaNode = readNode(openAPIV3Schema);
  const rules = compileRules(root);
  const at = { path: "", isObjectRoot: true };
  return {
    prune: <T>(object: T) => pruneValue(root, object as Json, at, () => {}) as T,
    unknownFields: (object) => {
      const paths: string[] = [];
      pruneValue(root, object as Json, at, (path) => paths.push(path));
      return paths;
    },
    default: <T>(object: T) => defaultValue(root, object as Json) as T,
    defaultApplied: <T>(object: T) => defaultValue(root, object as Json, "kept") as T,
    validate: (object, old, warn = () => {}) => {
      const errors = schemaErrors(root, object as Json, old as Json | undefined);
      // Rules may trust the form that the schema promises, so they run on values that have it.
      if (errors.some((e) => BLOCKING.has(e.reason))) return hasRules(root) ? [...errors, UNCHECKED] : errors;
      return [...errors, ...rules(object as Json, old as JsonObject | undefined, warn)];
    },
    type: mergeTypeOf(root, true),
  };
}

/** An update may keep what the schema refuses by now (KEP-4008): unchanged values, and lists whose items were no set or map before. */
function schemaErrors(root: SchemaNode, value: Json, old: Json | undefined): FieldError[] {
  const all = validateValue(root, value, "");
  if (old === undefined || all.length === 0) return all;
  const errors = validateValue(root, value, "", { old });
  if (!errors.some(isDuplicate)) return errors;
  return validateValue(root, old, "").some(isDuplicate) ? errors.filter((e) => !isDuplicate(e)) : errors;
}

function isDuplicate({ reason }: FieldError): boolean {
  return reason === "FieldValueDuplicate";
}
