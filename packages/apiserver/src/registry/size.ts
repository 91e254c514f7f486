import type { KubeObject } from "@causeway/kubernetes";
import { extentOf } from "../bounds.ts";
import { fields, isRecord, record } from "../json/json.ts";
import { apiError } from "../errors/status.ts";

/** Bytes of one record: etcd's limit of a request. An object beyond it could not be moved to a real cluster. */
const MAXIMUM_RECORD = 1.5 * 1024 * 1024;

/** Throws what kube-apiserver answers when etcd refuses a record. */
export function refuseTooLarge(object: KubeObject, isCustom: boolean): void {
  // Text has at most three bytes for each of its units.
  if (extentOf(object, MAXIMUM_RECORD).bytes * 3 <= MAXIMUM_RECORD) return;
  const size = isCustom ? Buffer.byteLength(JSON.stringify(object)) : encodedSize(object);
  if (size > MAXIMUM_RECORD) throw apiError(500, "", "etcdserver: request is too large");
}

/**
 * About the bytes of a built-in object in protobuf, and never more: names of fields are not in it, and binary values
 * are not in base64.
 */
function encodedSize(object: KubeObject): number {
  const { metadata, ...rest } = fields(object);
  const { managedFields, ...named } = record(metadata);
  const binary = object.kind === "Secret" ? rest["data"] : object.kind === "ConfigMap" ? rest["binaryData"] : undefined;
  return (
    textSize([named, rest]) -
    textSize(binary) / 4 +
    (managedFields ? Buffer.byteLength(JSON.stringify(managedFields)) : 0)
  );
}

/** The strings of a value, each with its tag and length. */
function textSize(value: unknown): number {
  let size = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") size += Buffer.byteLength(next) + 2;
    else if (Array.isArray(next) || isRecord(next)) for (const child of Object.values(next)) open.push(child);
  }
  return size;
}
