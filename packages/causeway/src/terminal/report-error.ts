import { styleText } from "node:util";
import { CausewayError, messageOf } from "@causeway/foundation";

/** Exit codes: 1 something failed, 2 the input was wrong and nothing was started, 3 what was looked at is broken, 130 interrupted. */
export const exitCodes = { failed: 1, usage: 2, findings: 3, interrupted: 130 } as const;

/** Codes that say: what you gave me cannot work; nothing was touched. */
const inputErrors = new Set([
  "CLOUD_NOT_FOUND",
  "CLOUDS_YAML_INVALID",
  "CLOUDS_YAML_NOT_FOUND",
  "OPENSTACK_UNAUTHORIZED",
  "STATE_TOO_NEW",
  "STATE_OF_ANOTHER_CLOUD",
  "STATE_UNREADABLE",
  "STATE_NOT_WRITABLE",
  "STATE_LOCKED",
  "APISERVER_PORT_TAKEN",
  "APISERVER_CANNOT_LISTEN",
  "IMAGE_NOT_FOUND",
  "FLAVOR_NOT_FOUND",
  "ADMIN_CLOUD_NEEDED",
  "ADVERTISE_ADDRESS_UNKNOWN",
  "CLOUD_WITHOUT_OCTAVIA",
  "FLAG_INVALID",
  "LEADER_MIGRATION_INVALID",
  "SERVICE_NOT_FOUND",
  "SWEEP_OTHER_CLUSTER",
  "CLOUD_CONF_UNREADABLE",
  "CLOUD_CONF_INVALID",
  "CLOUD_CONFIG_INVALID",
  "INI_INVALID",
  "CERTIFICATE_UNREADABLE",
  "KUBECONFIG_NOT_FOUND",
  "KUBECONFIG_INVALID",
  "KUBECONFIG_CONTEXT_UNKNOWN",
  "KUBERNETES_NOT_IN_CLUSTER",
  "ENDPOINT_PORT_TAKEN",
]);

/** What a person sees of an error: what happened, what to do, and the code to search for. */
export function renderError(error: unknown): string {
  const lines = [`${styleText("red", "error:", { stream: process.stderr })} ${messageOf(error)}`];
  if (error instanceof CausewayError) {
    const cause = error.cause instanceof Error ? error.cause.message : undefined;
    if (cause !== undefined && !error.message.includes(cause)) lines.push(`  because: ${cause}`);
    if (error.hint !== undefined) lines.push(`  what to do: ${error.hint}`);
    lines.push(`  code: ${error.code}`);
  }
  return `${lines.join("\n")}\n`;
}

export function exitCodeOf(error: unknown): number {
  return error instanceof CausewayError && inputErrors.has(error.code) ? exitCodes.usage : exitCodes.failed;
}
