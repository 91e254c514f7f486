import { Command, Option } from "@commander-js/extra-typings";
import { logLevelOption } from "../../options/logging.ts";
import { whole } from "../../options/numbers.ts";
import { outputOption } from "../../options/output.ts";

/** What `causeway cloud` is given. */
export type CloudOptions = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway cloud`: a simulated OpenStack for other programs. */
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
  causeway cloud --bind-address 0.0.0.0 --insecure --port 5000    in a container
  curl -s http://127.0.0.1:5000/_control/clouds.yaml    the clouds.yaml for the address that you used
  curl -s http://127.0.0.1:5000/_control/calls    who called what
  causeway cloud --data-path --port 5000
  curl -s http://127.0.0.1:5000/_control/data-path -H 'Content-Type: application/json' \\
    -d '{"members": {"10.0.0.5:30080": "127.0.0.1:8080"}}'    a member that is a local server`,
    )
    .action(async (given) => (await import("./action.ts")).cloud(given, signal));
}

function options() {
  return new Command("cloud")
    .description("Run a simulated OpenStack alone, with seeded projects and a clouds.yaml, until it is stopped.")
    .option(
      "--state <dir>",
      "state folder: the resources of the cloud, and its clouds.yaml, kept across restarts",
      ".causeway/cloud",
    )
    .option("--bind-address <address>", "address to listen on", "127.0.0.1")
    .option(
      "--insecure",
      "listen on an address beyond loopback, as in a container: every client has full access, without encryption",
      false,
    )
    .option("--port <port>", "port (0, the default: a free port, kept in the state folder)", whole(0, 65535))
    .addOption(
      new Option("--delays <kind>", "provisioning delays")
        .choices(["instant", "real"] as const)
        .default("instant" as const),
    )
    .option(
      "--data-path",
      "serve the listeners of load balancers on loopback (their places: _control/data-path)",
      false,
    )
    .addOption(outputOption("output format of its address and credentials"))
    .addOption(logLevelOption());
}
