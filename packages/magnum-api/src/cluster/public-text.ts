import type { Condition, KubeObject } from "@causeway/kubernetes";

/**
 * Reasons of hosted control planes whose messages have addresses, folders and objects of the management cluster, which
 * are the operator's alone: what users of a project read in place of them.
 */
const controlPlaneTexts: ReadonlyMap<string, string> = new Map([
  ["OperatorNeeded", "action by the operator is needed; the conditions of the control plane say why"],
  ["Starting", "the control plane is being started"],
  ["Failed", "the control plane could not be brought up to date; its conditions say why"],
  ["BackupFailed", "the last backup failed; the conditions of the control plane say why"],
  ["BackupOld", "the last backup is old; the conditions of the control plane say why"],
  ["Parked", "the control plane is stopped for a time, and started again by itself"],
  ["Hibernated", "the control plane is stopped; the operator starts it again"],
  ["RotationBroken", "the rotation of the certificate authority cannot continue; the operator has to restore its keys"],
  ["SecretsMissing", "keys of the cluster are missing; the operator has to restore them"],
  [
    "BudgetExceeded",
    "the cluster stores more than its limit: its API refuses to create and change objects; delete some (PODS_STORAGE_EXCEEDED)",
  ],
  [
    "Sealed",
    "the cluster stores more than its limit, and its API writes nothing more; the operator has to act (PODS_STORAGE_SEALED)",
  ],
]);

/** Reasons of hosted control planes whose messages are about what users of the project made or requested. */
const controlPlaneReasons: ReadonlySet<string> = new Set([
  "SpecRefused",
  "NotServed",
  "ProblematicWebhook",
  "ProblematicAPIService",
]);

/** What users of a project read of the credentials of a cluster that cannot be read in the management cluster. */
const IDENTITY = "the credentials of the cluster cannot be used: rotate them (PATCH /v1/credentials/ID)";

/**
 * What users of a project read of a condition: its cloud and its nodes are theirs, the management cluster is the
 * operator's. The reason is shown as the code, and leads the operator to the whole message.
 */
export function publicMessage(
  { kind, metadata }: Pick<KubeObject, "kind" | "metadata">,
  { reason, message = "" }: Pick<Condition, "reason" | "message">,
): string {
  if (kind === "HostedControlPlane" || kind === "Cluster") {
    const known = controlPlaneTexts.get(reason);
    if (known !== undefined) return known;
    if (!controlPlaneReasons.has(reason) && message !== "")
      return "it is not as it is to be; the operator's log has the reason";
  }
  if (reason === "InvalidIdentity") return IDENTITY;
  return publicText(message, metadata.namespace ?? "");
}

/** A name before a slash that follows neither another name nor a registry, as the namespace of an object does. */
const BEFORE_SLASH = /(?<![\w./-])([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)\//g;
/** A host name of two labels or more, with or without a port. */
const HOST = /(?<![\w./-])([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d{1,5})?/g;
/** The host name that a program could not resolve. */
const UNRESOLVED = /\b(ENOTFOUND|EAI_AGAIN) [^\s"'`,;)]+/g;
/** The names and addresses that a certificate is for, and the one that it is not for. */
const ALTNAMES = /(certificate's altnames): [^;(]*[^;(\s]/g;
const URL_TEXT = /\bhttps?:\/\/[^\s"'`,;)]+/g;
/** Of IPv4 or IPv6 with a port: those of programs. Addresses without one may be a user's own. */
const ADDRESS = /(?:\b\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\]):\d{1,5}\b/g;

/**
 * A text without addresses of programs and without the cluster's namespace in the management cluster, in one line.
 * Other namespaces and repositories of images may be a user's own.
 */
export function publicText(text: string, namespace: string): string {
  return text
    .replaceAll(URL_TEXT, "(address)")
    .replaceAll(ADDRESS, "(address)")
    .replaceAll(ALTNAMES, "$1")
    .replaceAll(UNRESOLVED, "$1 (address)")
    .replaceAll(HOST, (found, host: string) => (host.split(".").includes(namespace) ? "(address)" : found))
    .replaceAll(BEFORE_SLASH, (found, name: string) => (name === namespace ? "" : found))
    .replaceAll(", or set spec.brokenWebhooks to Exempt", "")
    .replaceAll(/\s+/g, " ");
}
