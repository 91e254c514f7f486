import { Command } from "@commander-js/extra-typings";
import { kubeletOption, machineImagesOption, podNetworkOption } from "../../options/kubelet.ts";
import { logLevelOption } from "../../options/logging.ts";

/** What `causeway machine-agent` is given. */
export type MachineAgentOptions = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway machine-agent`: for a development cloud without hypervisors. */
export function machineAgentCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway machine-agent --cloud devcloud
  causeway machine-agent --cloud devcloud --admin-cloud operator --log-level debug
  causeway machine-agent --cloud devcloud --kubelet real --kubelet-path /usr/bin/kubelet --images ./images`,
    )
    .action(async (given) => (await import("./action.ts")).machineAgent(given, signal));
}

function options() {
  return new Command("machine-agent")
    .description(
      "Run the machines of a cloud whose servers are network namespaces of this host: boot them, and join them to clusters.",
    )
    .requiredOption("--cloud, --os-cloud <name>", "entry of clouds.yaml; its project has the servers")
    .option("--admin-cloud <name>", "entry with an administrator's account (default: NAME-admin)")
    .addOption(kubeletOption())
    .addOption(podNetworkOption())
    .option("--kubelet-path <file>", "program of --kubelet real", "kubelet")
    .option("--images <dir>", "folder of archives of images (*.tar) that each machine of --kubelet real imports")
    .addOption(machineImagesOption())
    .option("--state <dir>", "folder that holds the machines' disks", ".causeway/machine-agent")
    .option("--volumes <dir>", "folder with links to each server's volumes as SERVER/by-id, with --kubelet real")
    .addOption(logLevelOption("info"));
}
