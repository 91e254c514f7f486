import { Command } from "@commander-js/extra-typings";
import type { Component } from "../components.ts";

/** `causeway run several`: the components of the table in one process. */
export function severalCommand(components: readonly Component[], signal: AbortSignal) {
  return new Command("several")
    .description("Several components in one process, which takes little more memory than one of them.")
    .argument("<component...>", 'a component with its flags, as one argument: "cluster-api --install-crds"')
    .addHelpText(
      "after",
      `
Each has its own clients, ports, logs and leader election. When one ends, all end.

Examples:
  causeway run several "cluster-api --install-crds" "cluster-api-openstack --install-crds --webhook-port 9444 --diagnostics-address 0"
  causeway run several "cinder-csi --controller --cloud-config cloud.conf" "cloud-controller-manager --cloud-config cloud.conf"`,
    )
    .action(async (lines) => (await import("./action.ts")).runSeveral(lines, components, signal));
}
