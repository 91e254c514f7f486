import { hostedControlPlaneOptions } from "./options.ts";

/** `causeway run hosted-control-plane`: control planes as pods of a service cluster. */
export function hostedControlPlaneCommand(signal: AbortSignal) {
  return hostedControlPlaneOptions()
    .addHelpText(
      "after",
      `
The service cluster is the management cluster, unless --service-kubeconfig names another one.

Examples:
  causeway run hosted-control-plane --kubeconfig admin.conf
  causeway run hosted-control-plane --service-kubeconfig causeway-system/service-cluster --causeway-image registry.example.org/causeway:1
  causeway run hosted-control-plane --print-crds | kubectl apply --server-side -f -`,
    )
    .action(async (given) => (await import("./action.ts")).hostedControlPlane(given, signal));
}
