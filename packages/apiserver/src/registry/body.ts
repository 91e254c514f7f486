import type { Json } from "../json.ts";
import { isRecord, record, text } from "../json.ts";
import { apiVersionOf, type Draft } from "../kinds/resource.ts";
import { badRequest } from "../server/status.ts";
import { unknownBuiltInFields } from "../wire/unknown-fields.ts";
import type { Call } from "./call.ts";

/**
 * Takes a parsed body as an object of the called resource: checks what it says it is, prunes what the
 * schema does not know (as fieldValidation says), and turns it into the stored form.
 */
export function draftOf(call: Call, body: unknown): Draft {
  const object = typed(call, body);
  const { version } = call;
  reportUnknown(call, object);
  const pruned = version.schema && call.resource.custom ? version.schema.prune(object) : object;
  const draft = (version.toStored ? version.toStored(pruned as Draft) : pruned) as Draft;
  draft.apiVersion = call.resource.storedAs;
  return draft;
}

function typed(call: Call, body: unknown): Json {
  if (!isRecord(body)) throw badRequest("the object provided is unrecognized (must be of type object)");
  const { resource, version } = call;
  const expected = apiVersionOf(resource.group, version.name);
  if (!text(body["kind"])) {
    throw badRequest(`Object 'Kind' is missing in '${JSON.stringify({ apiVersion: body["apiVersion"] })}'`);
  }
  if (body["apiVersion"] !== expected) {
    const given = text(body["apiVersion"]);
    throw badRequest(`the API version in the data (${given}) does not match the expected API version (${expected})`);
  }
  if (body["kind"] !== resource.kind) {
    throw badRequest(
      `the kind in the data (${text(body["kind"])}) does not match the expected kind (${resource.kind})`,
    );
  }
  const metadata = record(body["metadata"]);
  if (body["metadata"] !== undefined && !isRecord(body["metadata"])) throw badRequest("metadata must be an object");
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

function reportUnknown(call: Call, object: Json): void {
  if (call.fieldValidation === "Ignore") return;
  const { schema } = call.version;
  const unknown = schema?.unknownFields(object) ?? unknownBuiltInFields(call.cluster.catalog.tables, object);
  if (unknown.length === 0) return;
  const messages = unknown.map((f) => (f.startsWith("unknown field") ? f : `unknown field "${f}"`));
  if (call.fieldValidation === "Warn") return messages.forEach((m) => call.warn(m));
  const { resource, version } = call;
  const gvk = `${resource.kind} in version ${JSON.stringify(version.name)} cannot be handled as a ${resource.kind}`;
  throw badRequest(
    resource.custom
      ? `strict decoding error: ${messages.join(", ")}`
      : `${gvk}: strict decoding error: ${messages.join(", ")}`,
  );
}
