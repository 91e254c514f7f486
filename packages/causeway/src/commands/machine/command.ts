import { Command } from "@commander-js/extra-typings";
import { kubeletOption, machineImagesOption, podNetworkOption } from "../../options/kubelet.ts";
import { logLevelOption } from "../../options/logging.ts";

/** What `causeway machine` is given. */
export type MachineOptions = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway machine`: what `causeway machine-agent` starts for each machine, in namespaces of its own. */
export function machineCommand(signal: AbortSignal) {
  return options()
    .addHelpText("after", "\nExamples:\n  causeway machine --disk /var/lib/machine-1 < machine-1.json")
    .action(async (given) => (await import("./action.ts")).oneMachine(given, signal));
}

function options() {
  return new Command("machine")
    .description("Run one machine, described on standard input as JSON.")
    .requiredOption("--disk <dir>", "folder that is the machine's disk")
    .addOption(kubeletOption())
    .addOption(podNetworkOption())
    .option("--kubelet-path <file>", "program of --kubelet real", "kubelet")
    .option("--images <dir>", "folder of archives of images (*.tar) to import, with --kubelet real")
    .addOption(machineImagesOption())
    .option("--volumes <dir>", "folder with links to each server's volumes as SERVER/by-id, with --kubelet real")
    .addOption(logLevelOption());
}
