import { Option } from "@commander-js/extra-typings";
import { managerOptions } from "./options.ts";

/** Flags of cloud controller managers that say nothing here: accepted, so that a manifest of theirs runs unchanged. */
const withoutEffect = `allocate-node-cidrs use-service-account-credentials profiling contention-profiling
  kube-api-qps kube-api-burst kube-api-content-type min-resync-period node-monitor-period node-sync-period
  node-status-update-frequency concurrent-node-syncs concurrent-node-status-updates route-reconciliation-period
  allow-untagged-cloud authentication-kubeconfig authorization-kubeconfig authentication-skip-lookup
  requestheader-client-ca-file client-ca-file logging-format http2-max-streams-per-connection webhook-secure-port
  webhook-bind-address controller-start-interval feature-gates leader-elect-resource-lock
  webhooks webhook-cert-dir webhook-tls-cert-file webhook-tls-private-key-file cidr-allocator-type
  authentication-tolerate-lookup-failure authentication-token-webhook-cache-ttl
  authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl
  requestheader-allowed-names requestheader-extra-headers-prefix requestheader-group-headers
  requestheader-uid-headers requestheader-username-headers disable-http2-serving permit-address-sharing
  permit-port-sharing tls-cipher-suites tls-sni-cert-key external-cloud-volume-plugin log-flush-frequency
  log-text-info-buffer-size log-text-split-stream log-json-info-buffer-size log-json-split-stream vmodule`.split(/\s+/);

function hidden(name: string): Option {
  return new Option(`--${name} [value]`).hideHelp();
}

/** `causeway run cloud-controller-manager`. */
export function cloudControllerManagerCommand(signal: AbortSignal) {
  const command = managerOptions();
  for (const name of withoutEffect) command.addOption(hidden(name));
  return command
    .addHelpText(
      "after",
      `
Flags of other cloud controller managers that have no effect here are accepted and ignored.

Examples:
  causeway run cloud-controller-manager --cloud-config /etc/config/cloud.conf --cluster-name prod
  causeway run cloud-controller-manager --cloud-config cloud.conf --kubeconfig admin.conf --leader-elect=false
  causeway run cloud-controller-manager --cloud-config cloud.conf --controllers '*,-route' --secure-port 0`,
    )
    .action(async (flags) => (await import("./action.ts")).runCloudController(flags, signal));
}
