import { isList, isObject, type JsonObject, own } from "../../json/values.ts";
import { type FieldError, forbidden, invalid, required } from "../field-error.ts";
import { readNode } from "../node.ts";
import { defaultProblems } from "./defaults.ts";
import { openApiProblems } from "./open-api.ts";
import { structureProblems } from "./structure.ts";

/** What may be at the root of a schema whose status is written apart. */
const AT_ROOT = [
  "description",
  "type",
  "format",
  "title",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "multipleOf",
  "required",
  "items",
  "properties",
  "externalDocs",
  "example",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-validations",
];

/**
 * What is wrong with the schema of one version of a CustomResourceDefinition, in kube-apiserver's words and order: its
 * structure, its defaults, what it may not say, its CEL rules. `path` is where it is; `hasStatus` that the version
 * has a status subresource.
 */
export function validateCustomResourceDefinitionSchema(
  schema: unknown,
  path = "openAPIV3Schema",
  hasStatus = false,
): FieldError[] {
  if (!isObject(schema)) return [required(path, "schemas are required")];
  const root = hasStatus ? rootProblems(schema, path) : [];
  if (own(schema, "nullable") === true) {
    root.push(forbidden(`${path}.nullable`, "nullable cannot be true at the root"));
  }
  const isStructural = !holdsUnstructured(schema);
  const structure = isStructural ? structureProblems(schema, path) : [];
  const wrong = structure.length > 0 || !isStructural ? structure : defaultProblems(readNode(schema), path);
  const walked = openApiProblems(schema, path, isStructural && wrong.length === 0);
  return [...root, ...wrong, ...walked.schema, ...walked.rules];
}

const UNSTRUCTURED = "id $schema $ref additionalItems patternProperties definitions dependencies".split(" ");

/** What no structural schema can be made of: neither its structure nor its defaults and rules are checked then. */
function holdsUnstructured(schema: unknown): boolean {
  if (isList(schema)) return schema.some(holdsUnstructured);
  if (!isObject(schema)) return false;
  if (UNSTRUCTURED.some((name) => ![null, ""].includes((own(schema, name) ?? null) as null))) return true;
  if (isList(own(schema, "items"))) return true;
  const { properties, items, additionalProperties, allOf, anyOf, oneOf, not } = schema;
  const named = isObject(properties) ? Object.values(properties) : [];
  return [...named, items, additionalProperties, allOf, anyOf, oneOf, not].some(holdsUnstructured);
}

function rootProblems(schema: JsonObject, path: string): FieldError[] {
  const type = own(schema, "type") ?? "";
  if (type !== "" && type !== "object") {
    const why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalid(`${path}.type`, type, why)];
  }
  const isSaid = (name: string): boolean => ![null, false, "", 0].includes((own(schema, name) ?? null) as null);
  const other = Object.keys(schema).find((name) => isSaid(name) && !AT_ROOT.includes(name) && name !== "nullable");
  if (other === undefined) return [];
  const names = AT_ROOT.map(goName).join(" ");
  const why = `only [${names}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalid(path, schema, why)];
}

/** "x-kubernetes-validations" as Go's struct has it: XValidations. */
function goName(name: string): string {
  const plain = name.replace(/^x-kubernetes-/, "x-");
  return plain.replaceAll(/(^|-)([a-z])/g, (_, _dash, letter: string) => letter.toUpperCase());
}
