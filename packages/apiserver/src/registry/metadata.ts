import type { KubeObject, ObjectMeta } from "@causeway/kubernetes";
import { records, text, type Json } from "../json/json.ts";
import { SUBDOMAIN_RULE } from "../syntax/dns.ts";
import { identityProblems } from "./identity.ts";
import { addressFaults } from "../syntax/ip-names.ts";
import {
  annotationProblems,
  annotationsSize,
  DNS_LABEL,
  DNS_SUBDOMAIN,
  LABEL_RULE,
  labelProblems,
  pathFaults,
  qualifiedNameFaults,
} from "../syntax/names.ts";
import type { Resource } from "../contract/resource.ts";
import { forbiddenField, invalidValue, required } from "../errors/problems.ts";
import type { FieldProblem } from "../errors/status.ts";

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

/** What is wrong with metadata in addition to its names. */
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

/** A finalizer is qualified, "DOMAIN/NAME", or one of those that Kubernetes began with. */
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
