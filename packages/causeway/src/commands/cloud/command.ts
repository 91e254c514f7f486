import { Command, Option } from "@commander-js/extra-typings";
import { logLevelOption } from "../../options/logging.ts";
import { whole } from "../../options/numbers.ts";
import { outputOption } from "../../options/output.ts";

/** What `causeway cloud` is given. */
export type CloudOptions = ReturnType<ReturnType<typeof options>["opts"]>;

export function cloudCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway cloud
  OS_CLIENT_CONFIG_FILE=.causeway/cloud/clouds.yaml openstack --os-cloud simulator server list
  causeway cloud --delays real --port 5000
  causeway cloud -o json | jq -r .cloudsYaml
  curl -s http://127.0.0.1:5000/_control/calls    who called what`,
    )
    .action(async (given) => (await import("./action.ts")).cloud(given, signal));
}

function options() {
  return new Command("cloud")
    .description("Run a simulated OpenStack alone, with seeded projects and a clouds.yaml, until it is stopped.")
    .option("--state <dir>", "folder that keeps what is in the cloud, and its clouds.yaml", ".causeway/cloud")
    .option("--port <port>", "port on loopback (default: any free one, kept in the state folder)", whole(1, 65535))
    .addOption(
      new Option("--delays <kind>", "provisioning delays")
        .choices(["instant", "real"] as const)
        .default("instant" as const),
    )
    .addOption(outputOption("how to reach it, on standard output"))
    .addOption(logLevelOption());
}
