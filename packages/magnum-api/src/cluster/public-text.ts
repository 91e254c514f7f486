import type { Condition } from "@causeway/kubernetes";

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
export function publicMessage(kind: string, { reason, message = "" }: Pick<Condition, "reason" | "message">): string {
  if (kind === "HostedControlPlane" || kind === "Cluster") {
    const known = controlPlaneTexts.get(reason);
    if (known !== undefined) return known;
    if (!controlPlaneReasons.has(reason) && message !== "")
      return "it is not as it is to be; the operator's log has the reason";
  }
  if (reason === "InvalidIdentity") return IDENTITY;
  return publicText(message);
}

/** Namespaces of the Magnum API's clusters, before the name of an object. */
const NAMESPACE = /\bmagnum-[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\//g;
const URL_TEXT = /\bhttps?:\/\/[^\s"'`,;)]+/g;
/** Of IPv4 or IPv6 with a port: those of programs. Addresses without one may be a user's own. */
const ADDRESS = /(?:\b\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\]):\d{1,5}\b/g;

/** A text without addresses of programs and without namespaces of the management cluster, in one line. */
export function publicText(text: string): string {
  return text
    .replaceAll(URL_TEXT, "(address)")
    .replaceAll(ADDRESS, "(address)")
    .replaceAll(NAMESPACE, "")
    .replaceAll(", or set spec.brokenWebhooks to Exempt", "")
    .replaceAll(/\s+/g, " ");
}
