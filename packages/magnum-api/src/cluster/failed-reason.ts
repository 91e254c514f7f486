import { CausewayError } from "@causeway/foundation";
import { publicText } from "./public-text.ts";
import type { Step } from "./steps.ts";

/** Steps that use the operator's account, at an address of Keystone that tenants may not know. */
const byOperator: readonly Step["type"][] = ["revoke-credential", "discard-row"];

/** What a tenant may read of a failed step. Addresses of the management cluster are the operator's alone. */
export function reasonOf(step: Step["type"], error: unknown, namespace: string): string {
  if (!(error instanceof CausewayError)) return "an unexpected error; the operator's log has it (INTERNAL)";
  if (byOperator.includes(step) && error.code.startsWith("OPENSTACK_"))
    return `Keystone refused the request; the operator's log has the reason (${error.code})`;
  // The tenant may know what is wrong with the object itself.
  return error.code.startsWith("KUBERNETES_") && error.code !== "KUBERNETES_INVALID"
    ? `the management cluster refused the object; the operator's log has the reason (${error.code})`
    : `${publicText(error.message, namespace)} (${error.code})`;
}
