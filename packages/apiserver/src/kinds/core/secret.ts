import type { KubeObject } from "@causeway/kubernetes";
import { fields, record, same, text, type Json } from "../../json/json.ts";
import { forbiddenField, invalidValue, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import type { Strategy } from "../../contract/resource.ts";

const KEY = /^[-._a-zA-Z0-9]+$/;
const LIMIT = 1024 * 1024;
const BASE64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Keys that a Secret of a well-known type must have. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};

/** Rules of Secrets: what each type must contain, the size of the data, and what is immutable. */
export const secretStrategy: Strategy = {
  admit(object, _old, context) {
    const { type, data } = fields(object);
    if (type === "kubernetes.io/tls") warnOfPair(record(data), (message) => context.warn(message));
  },
  validate(object, old, { emptyMaps }) {
    const secret = fields(object);
    const data = record(secret["data"]);
    const problems = [...dataProblems(data), ...typeProblems(secret, data)];
    if (!old) return problems;
    const was = fields(old);
    if (was["type"] !== secret["type"]) problems.push(invalidValue("type", secret["type"], "field is immutable"));
    return [...problems, ...immutableProblems(object, old, { kept: ["data"], emptyMaps })];
  },
};

/** A pair that no server could use is kept all the same. */
function warnOfPair(data: Json, warn: (message: string) => void): void {
  for (const [key, what] of [
    ["tls.crt", "certificate"],
    ["tls.key", "key"],
  ] as const) {
    const pem = Buffer.from(text(data[key]), "base64").toString("latin1");
    if (pem.includes("-----BEGIN ")) continue;
    return warn(`tls: failed to find any PEM data in ${what} input`);
  }
}

function dataProblems(data: Json): FieldProblem[] {
  let size = 0;
  const problems = keyProblems("data", data);
  for (const [key, value] of Object.entries(data)) {
    // The value is never shown: it is a secret.
    if (value !== null && !(typeof value === "string" && BASE64.test(value))) {
      problems.push({
        field: `data[${key}]`,
        message: "Invalid value: illegal base64 data",
        reason: "FieldValueInvalid",
      });
    }
    size += text(value).length * 0.75;
  }
  if (size > LIMIT)
    problems.push({
      field: "data",
      message: `Too long: may not be more than ${LIMIT} bytes`,
      reason: "FieldValueTooLong",
    });
  return problems;
}

function typeProblems(secret: Json, data: Json): FieldProblem[] {
  const type = text(secret["type"]);
  const missing = (NEEDED[type] ?? []).filter((key) => data[key] === undefined);
  const problems = missing.map((key) => required(`data[${key}]`));
  if (type === "kubernetes.io/basic-auth" && data["username"] === undefined && data["password"] === undefined) {
    return [required("data[username]"), required("data[password]")];
  }
  if (type === "kubernetes.io/dockerconfigjson") problems.push(...jsonProblems(data[".dockerconfigjson"]));
  if (type !== "kubernetes.io/service-account-token") return problems;
  const annotations = record(record(secret["metadata"])["annotations"]);
  const field = "metadata.annotations[kubernetes.io/service-account.name]";
  return annotations["kubernetes.io/service-account.name"] ? problems : [required(field)];
}

/** The error for invalid JSON shows its first character at most. */
function jsonProblems(value: unknown): FieldProblem[] {
  const bytes = Buffer.from(text(value), "base64");
  const plain = bytes.toString();
  if (value === undefined) return [];
  try {
    JSON.parse(plain);
    return [];
  } catch {
    const why =
      plain === ""
        ? "unexpected end of JSON input"
        : `invalid character '${shownByte(bytes)}' looking for beginning of value`;
    return [invalidValue("data[.dockerconfigjson]", "<secret contents redacted>", why)];
  }
}

/** The first byte as Go quotes it: as the character of that number. */
function shownByte(bytes: Buffer): string {
  const [byte = 0] = bytes;
  const isShown = (byte >= 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
  if (isShown) return String.fromCharCode(byte);
  const hex = byte.toString(16);
  return byte < 0x80 ? `\\x${hex.padStart(2, "0")}` : `\\u00${hex}`;
}

/** The rules of `immutable: true`, which Secrets and ConfigMaps share. */
function immutableProblems(
  object: KubeObject,
  old: KubeObject,
  { kept, emptyMaps }: { readonly kept: readonly string[]; readonly emptyMaps: ReadonlySet<string> },
): FieldProblem[] {
  const now = fields(object);
  const was = fields(old);
  if (was["immutable"] !== true) return [];
  const why = "field is immutable when `immutable` is set";
  // None is another than nothing to Go; only a ConfigMap's data are never nothing.
  const isNowNone = (name: string): boolean =>
    emptyMaps.has(name) && was[name] === undefined && !(object.kind === "ConfigMap" && name === "data");
  const changed = kept
    .filter((name) => !same(now[name] ?? {}, was[name] ?? {}) || isNowNone(name))
    .map((name) => forbiddenField(name, why));
  return now["immutable"] === true ? changed : [forbiddenField("immutable", why), ...changed];
}

/** What is wrong with the keys of a map that files could be made of. */
function keyProblems(field: string, map: unknown): FieldProblem[] {
  return Object.keys(record(map)).flatMap((key) =>
    keyFaults(key).map((why) => invalidValue(`${field}[${key}]`, key, why)),
  );
}

const LONGEST_KEY = 253;

function keyFaults(key: string): string[] {
  const faults = key.length > LONGEST_KEY ? ["must be no more than 253 characters"] : [];
  if (!KEY.test(key)) faults.push(KEY_RULE);
  if (key === "." || key === "..") faults.push(`must not be '${key}'`);
  else if (key.startsWith("..")) faults.push("must not start with '..'");
  return faults;
}

const KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Rules of ConfigMaps: keys, the size of the data, and what is immutable. */
export const configMapStrategy: Strategy = {
  validate(object, old, { emptyMaps }) {
    const map = fields(object);
    const problems = [...keyProblems("data", map["data"]), ...keyProblems("binaryData", map["binaryData"])];
    for (const key of Object.keys(record(map["data"])).filter((k) => k in record(map["binaryData"]))) {
      problems.push(invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData"));
    }
    for (const [key, value] of Object.entries(record(map["data"]))) {
      if (typeof value !== "string") problems.push(invalidValue(`data[${key}]`, value, "must be a string"));
    }
    problems.push(...sizeProblems(map));
    return old
      ? [...problems, ...immutableProblems(object, old, { kept: ["data", "binaryData"], emptyMaps })]
      : problems;
  },
};

/** What a ConfigMap holds altogether; kube-apiserver names no field. */
function sizeProblems(map: Json): FieldProblem[] {
  const texts = Object.values(record(map["data"])).map((value) => Buffer.byteLength(text(value)));
  const bytes = Object.values(record(map["binaryData"])).map((value) => Math.floor(text(value).length * 0.75));
  const size = [...texts, ...bytes].reduce((sum, n) => sum + n, 0);
  if (size <= LIMIT) return [];
  return [{ field: "[]", message: `Too long: may not be more than ${LIMIT} bytes`, reason: "FieldValueTooLong" }];
}
