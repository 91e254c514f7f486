import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, isRecord, record, records, same, text, texts, type Json } from "../json/json.ts";
import { label1035Faults, subdomainFaults } from "../syntax/dns.ts";
import { validateCustomResourceDefinitionSchema } from "../schema/index.ts";
import { invalidValue, notSupported, required } from "../errors/problems.ts";
import type { FieldProblem } from "../errors/status.ts";
import { approvalProblems } from "./approval.ts";
import { conversionProblems } from "./conversion-rules.ts";
import { columnProblems, selectableProblems, subresourceProblems } from "./version-rules.ts";

/**
 * What is wrong with a CustomResourceDefinition, in kube-apiserver's words; with `old`, what an update may not change
 * too.
 */
export function definitionProblems(object: KubeObject, old: KubeObject | undefined): FieldProblem[] {
  const spec = record(fields(object)["spec"]);
  const was = old && record(fields(old)["spec"]);
  const established = records(record(old && fields(old)["status"])["conditions"]).some(
    (c) => c["type"] === "Established" && c["status"] === "True",
  );
  return [
    ...(old ? [] : nameProblems(object, spec)),
    ...groupProblems(spec),
    ...versionsProblems(spec),
    ...namesProblems(record(spec["names"])),
    ...sharedProblems(spec),
    ...conversionProblems(spec, was, established),
    ...(was ? fixedProblems(spec, was, established) : []),
    ...storedVersionProblems(object, spec),
    ...approvalProblems(object, old),
    ...preserveProblems(spec, was),
  ];
}

function nameProblems(object: KubeObject, spec: Json): FieldProblem[] {
  const wanted = `${text(record(spec["names"])["plural"])}.${text(spec["group"])}`;
  if (object.metadata.name === wanted) return [];
  return [invalidValue("metadata.name", object.metadata.name, `must be spec.names.plural+"."+spec.group`)];
}

function groupProblems(spec: Json): FieldProblem[] {
  const group = text(spec["group"]);
  const problems: FieldProblem[] = [];
  const faults = subdomainFaults(group);
  if (group === "") problems.push(required("spec.group"));
  else if (faults.length > 0) problems.push(invalidValue("spec.group", group, faults.join(",")));
  else if (!group.includes(".")) {
    problems.push(invalidValue("spec.group", group, "should be a domain with at least one dot"));
  }
  const scope = text(spec["scope"]);
  if (scope === "") problems.push(required("spec.scope"));
  else if (scope !== "Cluster" && scope !== "Namespaced") {
    problems.push(notSupported("spec.scope", scope, ["Cluster", "Namespaced"]));
  }
  return problems;
}

/** A value that all versions share is validated once, as by kube-apiserver: `field` is the path in its errors. */
interface Shared {
  readonly value: (version: Json) => unknown;
  readonly field: string;
}

const SCHEMA: Shared = { value: (v) => v["schema"], field: "spec.validation" };
const SUBRESOURCES: Shared = { value: (v) => v["subresources"], field: "spec.subresources" };
const COLUMNS: Shared = { value: (v) => v["additionalPrinterColumns"], field: "spec.additionalPrinterColumns" };
const SELECTABLE: Shared = { value: (v) => v["selectableFields"], field: "spec.selectableFields" };

function isShared(versions: readonly Json[], { value }: Shared): boolean {
  const [first, ...others] = versions;
  return first !== undefined && others.every((v) => same(value(v), value(first)));
}

/** What all versions say alike; computed once, since each question compares all of them. */
class Alike {
  readonly schema: boolean;
  readonly subresources: boolean;
  readonly columns: boolean;
  readonly selectable: boolean;

  constructor(versions: readonly Json[]) {
    this.schema = isShared(versions, SCHEMA);
    this.subresources = isShared(versions, SUBRESOURCES);
    this.columns = isShared(versions, COLUMNS);
    this.selectable = isShared(versions, SELECTABLE);
  }
}

function versionsProblems(spec: Json): FieldProblem[] {
  const versions = records(spec["versions"]);
  const alike = new Alike(versions);
  const problems: FieldProblem[] = [];
  for (const [i, version] of versions.entries()) {
    if (at(version, "schema", "openAPIV3Schema") === undefined) {
      problems.push(required(`spec.versions[${i}].schema.openAPIV3Schema`));
    }
  }
  for (const [i, version] of versions.entries()) problems.push(...versionProblems(alike, version, i));
  const names = versions.map((v) => text(v["name"]));
  if (new Set(names).size < names.length) {
    problems.push(invalidValue("spec.versions", names, "must contain unique version names"));
  }
  if (versions.filter((v) => v["storage"] === true).length !== 1) {
    problems.push(invalidValue("spec.versions", names, "must have exactly one version marked as storage version"));
  }
  return problems;
}

function versionProblems(alike: Alike, version: Json, i: number): FieldProblem[] {
  const field = `spec.versions[${i}]`;
  const problems: FieldProblem[] = [];
  const faults = label1035Faults(text(version["name"]));
  if (faults.length > 0) problems.push(invalidValue(`${field}.name`, version["name"] ?? "", faults.join(",")));
  problems.push(...deprecationProblems(version, `${field}.deprecationWarning`));
  if (!alike.schema) problems.push(...schemaProblems(version, `${field}.schema`));
  if (!alike.subresources) {
    problems.push(...subresourceProblems(record(version["subresources"]), `${field}.subresources`));
  }
  if (!alike.columns) {
    problems.push(...columnProblems(version["additionalPrinterColumns"], `${field}.additionalPrinterColumns`));
  }
  if (!alike.selectable) {
    if (alike.schema && records(version["selectableFields"]).length > 0) {
      const why = "may only be set when `version.schema.openAPIV3Schema` is not included";
      problems.push(invalidValue(`${field}.selectableFields`, "", why));
    } else problems.push(...selectableProblems(version, `${field}.selectableFields`));
  }
  return problems;
}

/** What all versions share. */
function sharedProblems(spec: Json): FieldProblem[] {
  const versions = records(spec["versions"]);
  const [first] = versions;
  if (!first) return [];
  const name = text(first["name"]);
  const nameFaults = name === "" ? [] : label1035Faults(name);
  const hasStatus = versions.some((v) => isRecord(at(v, "subresources", "status")));
  const shared = isShared(versions, SCHEMA);
  const problems = nameFaults.map((why) => invalidValue("spec.version", name, why));
  if (shared) problems.push(...schemaProblems(first, SCHEMA.field, hasStatus));
  if (isShared(versions, SUBRESOURCES)) {
    problems.push(...subresourceProblems(record(first["subresources"]), SUBRESOURCES.field));
  }
  if (isShared(versions, COLUMNS)) {
    problems.push(...columnProblems(first["additionalPrinterColumns"], COLUMNS.field));
  }
  if (!isShared(versions, SELECTABLE) || records(first["selectableFields"]).length === 0) return problems;
  if (!shared || !isRecord(first["schema"])) {
    const why = "may only be set when validations.schema is included";
    return [...problems, invalidValue(SELECTABLE.field, "", why)];
  }
  return [...problems, ...selectableProblems(first, SELECTABLE.field)];
}

function schemaProblems(
  version: Json,
  field: string,
  hasStatus = isRecord(at(version, "subresources", "status")),
): FieldProblem[] {
  const schema = at(version, "schema", "openAPIV3Schema");
  if (schema === undefined) return [];
  return validateCustomResourceDefinitionSchema(schema, `${field}.openAPIV3Schema`, hasStatus);
}

function deprecationProblems(version: Json, field: string): FieldProblem[] {
  const warning = version["deprecationWarning"];
  if (warning === undefined || warning === null) return [];
  const said = text(warning);
  const faults: string[] = [];
  if (version["deprecated"] !== true) faults.push("can only be set for deprecated versions");
  else {
    if (Buffer.byteLength(said) > 256) faults.push("must be <= 256 characters long");
    if (said === "") faults.push("must not be an empty string");
    const odd = /[^\P{C}]|[\u2028\u2029]/u.exec(said);
    if (odd) {
      const at_ = Buffer.byteLength(said.slice(0, odd.index));
      faults.push(`must only contain printable UTF-8 characters; non-printable character found at index ${at_}`);
    }
  }
  return faults.map((why) => invalidValue(field, said, why));
}

function namesProblems(names: Json): FieldProblem[] {
  const field = "spec.names";
  const problems = ["plural", "singular", "kind", "listKind"]
    .filter((name) => !text(names[name]))
    .map((name) => required(`${field}.${name}`));
  const check = (name: string, given: string, how = ""): void => {
    const faults = given === "" ? [] : label1035Faults(how === "" ? given : given.toLowerCase());
    if (faults.length > 0) problems.push(invalidValue(`${field}.${name}`, given, how + faults.join(",")));
  };
  const mixed = "may have mixed case, but should otherwise match: ";
  check("plural", text(names["plural"]));
  check("singular", text(names["singular"]));
  check("kind", text(names["kind"]), mixed);
  check("listKind", text(names["listKind"]), mixed);
  for (const [i, name] of texts(names["shortNames"]).entries()) {
    const faults = label1035Faults(name);
    if (faults.length > 0) problems.push(invalidValue(`${field}.shortNames[${i}]`, name, faults.join(",")));
  }
  if (text(names["kind"]) && names["kind"] === names["listKind"]) {
    const why = "kind and listKind may not be the same";
    problems.push(invalidValue(`${field}.listKind`, names["listKind"], why));
  }
  for (const [i, name] of texts(names["categories"]).entries()) check(`categories[${i}]`, name);
  return problems;
}

function fixedProblems(spec: Json, was: Json, established: boolean): FieldProblem[] {
  const fixed = [...(established ? [["scope"], ["names", "kind"]] : []), ["group"], ["names", "plural"]];
  return fixed
    .filter((path) => !same(at(spec, ...path), at(was, ...path)))
    .map((path) => invalidValue(`spec.${path.join(".")}`, at(spec, ...path), "field is immutable"));
}

/** No object may be stored in a version that is not defined any more. */
function storedVersionProblems(object: KubeObject, spec: Json): FieldProblem[] {
  const field = "status.storedVersions";
  const versions = records(spec["versions"]);
  const stored = texts(at(object, "status", "storedVersions"));
  if (stored.length === 0) return [invalidValue(field, null, "must have at least one stored version")];
  const missing = versions.filter((v) => v["storage"] === true && !stored.includes(text(v["name"])));
  return [
    ...missing.map((v) => invalidValue(field, stored, `must have the storage version ${text(v["name"])}`)),
    ...stored.flatMap((name, i) => {
      if (versions.some((v) => text(v["name"]) === name)) return [];
      const until = `until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
      const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions ${until}`;
      return [invalidValue(`${field}[${i}]`, name, why)];
    }),
  ];
}

function preserveProblems(spec: Json, was: Json | undefined): FieldProblem[] {
  if (spec["preserveUnknownFields"] !== true || was?.["preserveUnknownFields"] === true) return [];
  const field = "spec.preserveUnknownFields";
  const why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  const filled = records(spec["versions"]).some((v) => hasDefaults(at(v, "schema", "openAPIV3Schema")));
  return [
    invalidValue(field, true, why),
    ...(filled ? [invalidValue(field, true, "must be false in order to use defaults in the schema")] : []),
  ];
}

function hasDefaults(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasDefaults);
  if (!isRecord(schema)) return false;
  if (schema["default"] !== undefined && schema["default"] !== null) return true;
  const { properties, items, additionalProperties } = schema;
  return [...Object.values(record(properties)), items, additionalProperties].some(hasDefaults);
}
