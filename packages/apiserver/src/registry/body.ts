import { cutJson, MAXIMUM_STRICT_ERRORS } from "../bounds.ts";
import { isOldVersion } from "./old-versions.ts";
import { malformedInner } from "./embedded.ts";
import type { Json } from "../json/json.ts";
import { at, isRecord, record, same, text } from "../json/json.ts";
import { apiVersionOf, type Draft } from "../contract/resource.ts";
import { canonical, canonicalMetadata } from "../wire/canonical.ts";
import { convertNumbers } from "../wire/convert.ts";
import { decodingProblem, metadataProblem } from "../wire/decode.ts";
import { invalidValue } from "../errors/problems.ts";
import { badRequest, invalid } from "../errors/status.ts";
import { duplicatesOf } from "../json/duplicates.ts";
import { structOf } from "../wire/tables.ts";
import { unknownBuiltInFields, unknownMetadata } from "../wire/unknown-fields.ts";
import type { Call } from "../contract/call.ts";

/** Makes the error for a body that cannot be read as the called resource. */
type Refuse = (problem: string) => Error;

/** How a body is read that is no request's own. */
export interface BodyRules {
  readonly refuse: Refuse;
  /** Makes the error for a body of a kind that cannot be handled as the called one. Default: it says so. */
  readonly refuseKind?: () => Error;
  /** Why a built-in kind cannot hold what it is given; what a decoder says where this is absent. */
  readonly problemOf?: typeof decodingProblem;
  /** It was checked against its type already: what is left is for the rules to find. */
  readonly isApplied?: boolean;
}

/**
 * Takes a parsed body as an object of the called resource: checks what it says it is and that its fields can hold what
 * they are given, prunes what the schema does not know (as fieldValidation says), and turns built-in kinds into the
 * stored form. Throws 400, or what `refuse` makes.
 */
export function draftOf(call: Call, body: unknown, reading: BodyRules = { refuse: unreadable(call) }): Draft {
  const object = typed(call, body, reading);
  const { version } = call;
  reportUnknown(call, object, reading);
  const { tables } = call.cluster.catalog;
  // What was converted, not decoded.
  if (reading.problemOf) convertNumbers(tables, object);
  recordEmptyMaps(call, object);
  if (call.resource.custom) canonicalMetadata(tables, record(object["metadata"]));
  else canonical(tables, object);
  const pruned = version.schema && call.resource.custom ? version.schema.prune(object) : object;
  if (call.resource.custom) settleInner(call, pruned);
  const draft = (version.toStored ? version.toStored(pruned as Draft) : pruned) as Draft;
  if (!call.resource.custom) draft.apiVersion = call.resource.storedAs;
  call.resource.strategy.read?.(draft);
  return draft;
}

/** Where the labels of pods are in what makes pods. */
const LABELS = ["spec", "template", "metadata", "labels"];

function recordEmptyMaps({ emptyMaps }: Call, object: Json): void {
  emptyMaps?.clear();
  if (isRecord(at(object, ...LABELS)) && same(at(object, ...LABELS), {})) emptyMaps?.add(LABELS.join("."));
  for (const [name, value] of Object.entries(object)) {
    if (isRecord(value) && Object.keys(value).length === 0) emptyMaps?.add(name);
  }
}

function unreadable({ resource, version }: Call): Refuse {
  const { kind } = resource;
  return (problem) =>
    badRequest(`${kind} in version ${JSON.stringify(version.name)} cannot be handled as a ${kind}: ${problem}`);
}

function typed(call: Call, sent: unknown, reading: BodyRules): Json {
  const { refuse, problemOf = decodingProblem, isApplied = false } = reading;
  const { resource, version } = call;
  const expected = apiVersionOf(resource.group, version.name);
  // Go's decoder leaves an object as it is that is given null.
  const body = sent === null && !resource.custom ? {} : sent;
  if (!isRecord(body)) throw unrecognized(resource.kind, body);
  // What does not say what it is is what the path says.
  if (!resource.custom)
    Object.assign(body, { apiVersion: body["apiVersion"] || expected, kind: body["kind"] || resource.kind });
  if (!text(body["kind"])) {
    throw badRequest(`Object 'Kind' is missing in '${JSON.stringify({ apiVersion: body["apiVersion"] })}'`);
  }
  if (body["apiVersion"] !== expected || body["kind"] !== resource.kind)
    throw otherKind(call, body, { expected, reading });
  const { tables } = call.cluster.catalog;
  const problem = resource.custom
    ? (metadataProblem(tables, body["metadata"]) ?? (isApplied ? undefined : innerProblem(call, body)))
    : problemOf(tables, body);
  if (problem !== undefined) throw refuse(problem);
  const metadata = metadataOf(body, refuse);
  const given = text(metadata["namespace"]);
  if (given !== "" && given !== call.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  delete metadata["selfLink"];
  if (resource.namespaced) metadata["namespace"] = call.namespace;
  else delete metadata["namespace"];
  body["metadata"] = metadata;
  return body;
}

function metadataOf({ metadata }: Json, refuse: Refuse): Json {
  if (metadata === undefined || metadata === null || isRecord(metadata)) return record(metadata);
  const type = Array.isArray(metadata) ? "array" : typeof metadata === "boolean" ? "bool" : typeof metadata;
  throw refuse(`json: cannot unmarshal ${type} into Go value of type v1.ObjectMeta`);
}

/** An object within a custom one that cannot be what it has to be. */
function innerProblem({ version, cluster }: Call, body: Json): string | undefined {
  for (const { path, object } of version.schema?.embedded(body) ?? []) {
    const problem = malformedInner(cluster.catalog.tables, path, object);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Objects within an object have their metadata in the form that all metadata has. */
function settleInner({ version, cluster }: Call, body: Json): void {
  for (const { object } of version.schema?.embedded(body) ?? []) {
    const inner = object as Json;
    if (inner["metadata"] === null) inner["metadata"] = {};
    const { metadata } = inner;
    if (!isRecord(metadata)) continue;
    canonicalMetadata(cluster.catalog.tables, metadata);
    if (metadata["creationTimestamp"] === null) delete metadata["creationTimestamp"];
  }
}

/** A body that is JSON, but no object. */
function unrecognized(kind: string, body: unknown): Error {
  const type = Array.isArray(body) ? "array" : typeof body === "boolean" ? "bool" : typeof body;
  const target =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  const why = `json: cannot unmarshal ${type} into Go value of type ${target}`;
  const shown = Buffer.from(cutJson(body, 30)).subarray(0, 30).toString("hex");
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${why} (${shown})`,
  );
}

function otherKind(
  call: Call,
  body: Json,
  { expected, reading }: { readonly expected: string; readonly reading: BodyRules },
): Error {
  const { resource, name } = call;
  const [kind, apiVersion] = [text(body["kind"]), text(body["apiVersion"])];
  const isOld = kind === resource.kind && apiVersion !== expected && isOldVersion(apiVersion, kind);
  if (!resource.custom && !isOld) {
    if (reading.refuseKind) return reading.refuseKind();
    const head = `${kind} in version ${JSON.stringify(apiVersion.split("/").at(-1))} cannot be handled as a ${resource.kind}`;
    const to = `${resource.group.split(".")[0] || "core"}.${resource.kind}`;
    const why = isBuiltIn(call, apiVersion, kind)
      ? `converting (v1.${kind}) to (${to}): unknown conversion`
      : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:110"`;
    return badRequest(`${head}: ${why}`);
  }
  if (apiVersion !== expected) {
    return badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  const named = name || text(record(body["metadata"])["name"]);
  return invalid({ group: resource.group, kind }, named, [invalidValue("kind", kind, `must be ${resource.kind}`)]);
}

function isBuiltIn({ cluster }: Call, apiVersion: string, kind: string): boolean {
  const [group = ""] = apiVersion.includes("/") ? apiVersion.split("/") : [];
  const struct = structOf(apiVersion, kind);
  const isOurs = !group.includes(".") || group.endsWith(".k8s.io");
  return isOurs && struct !== undefined && cluster.catalog.tables.byName(struct) !== undefined;
}

function reportUnknown(call: Call, object: Json, { refuse, problemOf }: BodyRules): void {
  // Go's converter reports them sorted, its decoders in order of appearance.
  const isSorted = problemOf !== undefined;
  if (call.fieldValidation === "Ignore") return;
  const { schema } = call.version;
  const { tables } = call.cluster.catalog;
  const unknown = schema
    ? [...unknownMetadata(tables, object["metadata"]), ...schema.unknownFields(object)]
    : [...unknownBuiltInFields(tables, object), ...(call.resource.strategy.unknownFields?.(object) ?? [])];
  if (isSorted) unknown.sort();
  const twice = duplicatesOf(object);
  if (unknown.length === 0 && twice.length === 0) return;
  const messages = [...unknown.map((f) => (f.startsWith("unknown field") ? f : `unknown field "${f}"`)), ...twice];
  messages.length = Math.min(messages.length, MAXIMUM_STRICT_ERRORS);
  if (call.fieldValidation === "Warn") return messages.forEach((m) => call.warn(m));
  const inLines = twice.some((t) => t.startsWith("line "));
  const faults = inLines ? `yaml: unmarshal errors:\n  ${twice.join("\n  ")}` : messages.join(", ");
  throw refuse(`strict decoding error: ${faults}`);
}
