import { Command } from "@commander-js/extra-typings";
import { logLevelOption } from "../../options/logging.ts";
import { outputOption } from "../../options/output.ts";
import { cloudOptions, clusterOptions } from "../../options/places.ts";

/** What `causeway doctor` is given. */
export type DoctorOptions = ReturnType<ReturnType<typeof options>["opts"]>;

/** Reads a cloud and reports what will work on it. */
export function doctorCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
It changes nothing. It exits with status 0, or with 3 when something is broken that a cluster needs,
2 for wrong input, 1 when the cloud cannot be queried.

Examples:
  causeway doctor --cloud devcloud
  causeway doctor --cloud prod --kubeconfig admin.conf
  causeway doctor --cloud prod --quiet
  causeway doctor --cloud prod -o json | jq '.findings[] | select(.state != "works")'`,
    )
    .action(async (given) => (await import("./action.ts")).doctor(given, signal));
}

function options() {
  return new Command("doctor")
    .description(
      "Read a cloud's versions, providers, quotas and clocks, and say what will work, what not, and what to do.",
    )
    .addOption(cloudOptions.cloud())
    .addOption(cloudOptions.insecure())
    .addOption(cloudOptions.cacert())
    .addOption(clusterOptions.kubeconfig("also read this cluster"))
    .addOption(clusterOptions.context())
    .option("-q, --quiet", "leave out of the table what works", false)
    .addOption(outputOption())
    .addOption(logLevelOption());
}
