import type { PhasePlan, Step } from "../phase.ts";

/**
 * Without the private key of the cluster's CA, the hosted control plane cannot sign certificates that nodes and clients
 * accept: refused before anything changes. Undefined: there is a key.
 */
export function caKeyRefusal(hasCaKey: boolean, { name }: { readonly name: string }): PhasePlan<Step>["refused"] {
  if (hasCaKey) return undefined;
  return {
    code: "MIGRATE_KEY_MISSING",
    message: `The masters of cluster ${name} do not have the private key of its CA, /etc/kubernetes/certs/ca.key: its label cert_manager_api is not true`,
    hint: "Get it from Magnum's certificate manager, by the cluster's ca_cert_ref, as docs/reference/magnum-migration.md describes, and give it with --ca-key FILE. Nothing was changed.",
  };
}
