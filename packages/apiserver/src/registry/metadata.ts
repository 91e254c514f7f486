import type { KubeObject, ObjectMeta } from "@causeway/kubernetes";
import { isRecord, records, text, type Json } from "../json.ts";
import { SUBDOMAIN_RULE } from "./dns.ts";
import { identityProblems } from "./identity.ts";
import { addressFaults } from "../kinds/service-range.ts";
import type { Resource } from "../kinds/resource.ts";
import { forbiddenField, invalidValue, required } from "../server/problems.ts";
import type { FieldProblem } from "../server/status.ts";

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DNS_LABEL = new RegExp(`^${LABEL}$`);
const DNS_SUBDOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})*$`);
const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const ANNOTATIONS_LIMIT = 256 * 1024;

const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** Kinds whose names are DNS labels, and those whose names are nearly free text. */
const LABEL_NAMED = new Set(["Namespace", "Service"]);
const PATH_NAMED = new Set(["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"]);

/** What is wrong with an object's metadata, in the words of apimachinery. */
export function validateMetadata(resource: Resource, object: KubeObject, old?: KubeObject): FieldProblem[] {
  const { metadata } = object;
  return [
    ...(old ? identityProblems(metadata, old.metadata) : prefixProblems(resource, metadata)),
    ...(old ? [] : nameProblems(resource, metadata)),
    ...partProblems(metadata, old?.metadata),
    ...ownFinalizers(resource, metadata, old?.metadata),
  ];
}

/** What is wrong with metadata beside its names. */
export function partProblems(metadata: ObjectMeta, old?: ObjectMeta): FieldProblem[] {
  return [
    ...labelProblems(metadata.labels),
    ...annotationProblems(metadata.annotations),
    ...annotationsSize(metadata),
    ...ownerProblems(metadata),
    ...finalizerProblems(metadata, old),
  ];
}

/** What is wrong with a name of this kind: messages, none when it is right. */
export function nameFaults(resource: Resource, name: string): string[] {
  if (PATH_NAMED.has(resource.kind)) return pathFaults(name);
  if (resource.kind === "IPAddress" && !resource.custom) return addressFaults(name);
  if (LABEL_NAMED.has(resource.kind)) {
    if (name.length > 63) return ["must be no more than 63 characters"];
    return DNS_LABEL.test(name) ? [] : [LABEL_RULE];
  }
  if (name.length > 253) return ["must be no more than 253 characters"];
  return DNS_SUBDOMAIN.test(name) ? [] : [SUBDOMAIN_RULE];
}

/** What is wrong with a name that stands for itself in a path. */
export function pathFaults(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((c) => name.includes(c)).map((c) => `may not contain '${c}'`);
}

function nameProblems(resource: Resource, metadata: ObjectMeta): FieldProblem[] {
  if (!metadata.name) return [required("metadata.name", "name or generateName is required")];
  return nameFaults(resource, metadata.name).map((why) => invalidValue("metadata.name", metadata.name, why));
}

/** What is wrong with the beginning of a generated name. It may end with what a name may not end with. */
function prefixProblems(resource: Resource, { generateName }: ObjectMeta): FieldProblem[] {
  if (!generateName) return [];
  const masked = PATH_NAMED.has(resource.kind) ? generateName : generateName.replace(/.-$/, "a");
  return nameFaults(resource, masked).map((why) => invalidValue("metadata.generateName", generateName, why));
}

/** What is wrong with labels, in apimachinery's words. */
export function labelProblems(labels: unknown): FieldProblem[] {
  return keyed("metadata.labels", labels, true);
}

/** What is wrong with annotations, in apimachinery's words. */
export function annotationProblems(annotations: unknown): FieldProblem[] {
  return keyed("metadata.annotations", annotations, false);
}

function keyed(field: string, values: unknown, checkValues: boolean): FieldProblem[] {
  if (!isRecord(values)) return values === undefined ? [] : [invalidValue(field, values, "must be a map of strings")];
  return Object.entries(values).flatMap(([key, value]) => {
    const problems = qualifiedNameFaults(key).map((why) => invalidValue(field, key, why));
    if (typeof value !== "string") return [...problems, invalidValue(field, value, "must be a string")];
    if (!checkValues) return problems;
    return [...problems, ...labelValueFaults(value).map((why) => invalidValue(field, value, why))];
  });
}

/** What is wrong with a DNS name, one of a host for instance. */
export function subdomainFaults(name: string): string[] {
  return [
    ...(name.length > 253 ? ["must be no more than 253 characters"] : []),
    ...(DNS_SUBDOMAIN.test(name) ? [] : [SUBDOMAIN_RULE]),
  ];
}

/** What is wrong with the value of a label. */
export function labelValueFaults(value: string): string[] {
  const faults = value.length > 63 ? ["must be no more than 63 characters"] : [];
  return LABEL_VALUE.test(value) ? faults : [...faults, VALUE_RULE];
}

/** What is wrong with a "prefix/name" key, as labels and finalizers have them. */
export function qualifiedNameFaults(key: string): string[] {
  return labelKeyFaults(key.toLowerCase() === key ? key : lowered(key));
}

/** Prefixes of other keys than selectors' may be in capitals. */
function lowered(key: string): string {
  const at = key.lastIndexOf("/");
  return at < 0 ? key : `${key.slice(0, at).toLowerCase()}${key.slice(at)}`;
}

/** What is wrong with a label's key as a selector names it. */
export function labelKeyFaults(key: string): string[] {
  const parts = key.split("/");
  if (parts.length > 2) {
    return [
      `a qualified name ${QUALIFIED_RULE.slice("name part ".length)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const faults: string[] = [];
  if (prefix === "") faults.push("prefix part must be non-empty");
  else if (prefix !== undefined && !DNS_SUBDOMAIN.test(prefix)) faults.push(`prefix part ${SUBDOMAIN_RULE}`);
  if (name === "") faults.push("name part must be non-empty");
  else if (name.length > 63) faults.push("name part must be no more than 63 characters");
  if (!NAME_PART.test(name)) faults.push(QUALIFIED_RULE);
  return faults;
}

function annotationsSize(metadata: ObjectMeta): FieldProblem[] {
  let size = 0;
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) size += key.length + String(value).length;
  if (size <= ANNOTATIONS_LIMIT) return [];
  const message = `Too long: may not be more than ${ANNOTATIONS_LIMIT} bytes`;
  return [{ field: "metadata.annotations", message, reason: "FieldValueTooLong" }];
}

/** The version of "VERSION" or "GROUP/VERSION"; "" for what is neither. */
function versionOf(apiVersion: string): string {
  const [first = "", second, ...more] = apiVersion.split("/");
  return more.length > 0 ? "" : (second ?? first);
}

function ownerProblems(metadata: ObjectMeta): FieldProblem[] {
  const field = "metadata.ownerReferences";
  const controllers = records(metadata.ownerReferences).filter((owner) => owner["controller"] === true);
  const problems = records(metadata.ownerReferences).flatMap((owner) => {
    return ["apiVersion", "kind", "name", "uid"]
      .filter((name) => (name === "apiVersion" ? versionOf(text(owner[name])) : owner[name]) === "" || !owner[name])
      .map((name) => {
        const subject = name === "apiVersion" ? "version " : "";
        return invalidValue(`${field}.${name}`, owner[name] ?? "", `${subject}must not be empty`);
      });
  });
  const [first, second] = controllers.map((owner) => `${text(owner["kind"])}/${text(owner["name"])}`);
  if (second === undefined) return problems;
  const why = `Only one reference can have Controller set to true. Found "true" in references for ${first ?? ""} and ${second}`;
  return [...problems, invalidValue(field, records(metadata.ownerReferences).map(ownerShown), why)];
}

/** An owner as messages show one: its fields in the order of the type. */
function ownerShown({ apiVersion, kind, name, uid, ...rest }: Json): Json {
  const { controller, blockOwnerDeletion } = rest;
  return { apiVersion, kind: kind ?? "", name, uid, controller, blockOwnerDeletion };
}

/** Groups whose kinds hold finalizers to apimachinery's rules alone. */
const FREE_FINALIZERS: ReadonlySet<string> = new Set([
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "coordination.k8s.io",
  "discovery.k8s.io",
  "node.k8s.io",
  "policy",
]);
/** Kinds that are held to all rules again when they change. */
const HELD_AGAIN: ReadonlySet<string> = new Set([
  "ClusterRole",
  "ClusterRoleBinding",
  "ConfigMap",
  "LimitRange",
  "Namespace",
  "NetworkPolicy",
  "Node",
  "PersistentVolume",
  "PersistentVolumeClaim",
  "Pod",
  "Role",
  "RoleBinding",
  "Secret",
  "ServiceAccount",
  "StorageClass",
  "VolumeAttachment",
]);
const STANDARD: ReadonlySet<string> = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

/** A finalizer is somebody's, "DOMAIN/NAME", or one of those that Kubernetes began with. */
function ownFinalizers(resource: Resource, metadata: ObjectMeta, old: ObjectMeta | undefined): FieldProblem[] {
  if (resource.custom || FREE_FINALIZERS.has(resource.group) || (old && !HELD_AGAIN.has(resource.kind))) return [];
  const why = "name is neither a standard finalizer name nor is it fully qualified";
  return (metadata.finalizers ?? []).flatMap((name, i) =>
    name.includes("/") || STANDARD.has(name) ? [] : [invalidValue(`metadata.finalizers[${i}]`, name, why)],
  );
}

function finalizerProblems(metadata: ObjectMeta, old: ObjectMeta | undefined): FieldProblem[] {
  const field = "metadata.finalizers";
  const finalizers = metadata.finalizers ?? [];
  const problems = finalizers.flatMap((f) => qualifiedNameFaults(f).map((why) => invalidValue(field, f, why)));
  if (!old?.deletionTimestamp) return problems;
  const added = finalizers.filter((f) => !(old.finalizers ?? []).includes(f));
  if (added.length === 0) return problems;
  const list = added.map((f) => JSON.stringify(f)).join(", ");
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
  return [...problems, forbiddenField(field, why)];
}
