import { isList, isObject, type Json, type JsonObject, own } from "../../json/values.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../field-error.ts";

const LIST_TYPES = ["atomic", "set", "map"];

/** What is wrong with x-kubernetes-list-type and x-kubernetes-list-map-keys. */
export function listProblems(schema: JsonObject, path: string): FieldError[] {
  const listType = own(schema, "x-kubernetes-list-type") ?? undefined;
  const keys = own(schema, "x-kubernetes-list-map-keys");
  const given = isList(keys) ? keys : [];
  const errors = typeProblems(schema, listType, path);
  if (listType !== undefined && !LIST_TYPES.includes(listType as string)) {
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, LIST_TYPES));
  }
  if (given.length > 0 && listType !== "map") {
    const why = "must be map if x-kubernetes-list-map-keys is non-empty";
    const at = `${path}.x-kubernetes-list-type`;
    errors.push(listType === undefined ? required(at, why) : invalid(at, listType, why));
  }
  if (listType === "map") errors.push(...mapProblems(schema, given, path));
  const items = own(schema, "items");
  if ((listType === "set" || listType === "map") && isObject(items)) {
    errors.push(...itemProblems(items, { listType, keys: given, path }));
  }
  return errors;
}

function typeProblems(schema: JsonObject, listType: Json | undefined, path: string): FieldError[] {
  if (listType === undefined) return [];
  const type = own(schema, "type") ?? "";
  if (type !== "array") {
    const why = "must be array if x-kubernetes-list-type is specified";
    return [type === "" ? required(`${path}.type`, why) : invalid(`${path}.type`, type, why)];
  }
  const items = own(schema, "items");
  if (listType !== "set" || !isObject(items)) return [];
  const why = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const inner = own(items, "x-kubernetes-list-type") ?? null;
  if (own(items, "type") === "array" && inner !== null && inner !== "atomic") {
    return [invalid(`${path}.items.x-kubernetes-list-type`, inner, why)];
  }
  if (own(items, "type") === "object" && own(items, "x-kubernetes-map-type") !== "atomic") {
    return [invalid(`${path}.items.x-kubernetes-map-type`, inner, why)];
  }
  return [];
}

function mapProblems(schema: JsonObject, keys: readonly Json[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const at = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) errors.push(required(at, "must not be empty if x-kubernetes-list-type is map"));
  const items = own(schema, "items");
  if (items === undefined) {
    return [...errors, required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map")];
  }
  if (!isObject(items)) return errors;
  const type = own(items, "type") ?? "";
  if (type !== "object") {
    const why = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, invalid(`${path}.items.type`, type, why)];
  }
  const properties = own(items, "properties");
  for (const [i, key] of keys.entries()) {
    const property = isObject(properties) && typeof key === "string" ? own(properties, key) : undefined;
    if (!isObject(property)) errors.push(invalid(at, keys, "entries must all be names of item properties"));
    else if (["array", "object"].includes(own(property, "type") as string)) {
      const why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalid(`${path}.items.properties[${key as string}].type`, type, why));
    }
    if (keys.indexOf(key) < i) errors.push(invalid(at, keys, "must not contain duplicate entries"));
  }
  return errors;
}

interface Items {
  readonly listType: "set" | "map";
  readonly keys: readonly Json[];
  readonly path: string;
}

/** Items are identified by value or by key, so neither may be null. */
function itemProblems(items: JsonObject, { listType, keys, path }: Items): FieldError[] {
  const errors: FieldError[] = [];
  if (own(items, "nullable") === true) {
    const why = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push(forbidden(`${path}.items.nullable`, why));
  }
  if (listType === "set") return errors;
  const properties = own(items, "properties");
  const mandatory = own(items, "required");
  for (const key of keys) {
    const property = isObject(properties) && typeof key === "string" ? own(properties, key) : undefined;
    if (!isObject(property)) continue;
    const at = `${path}.items.properties[${key as string}]`;
    const isRequired = isList(mandatory) && mandatory.includes(key);
    if (!isRequired && (own(property, "default") ?? null) === null) {
      const why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      errors.push(required(`${at}.default`, why));
    }
    if (own(property, "nullable") === true) {
      const why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
      errors.push(forbidden(`${at}.nullable`, why));
    }
  }
  return errors;
}
