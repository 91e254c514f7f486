import { Command, Option } from "commander";
import type { LogLevel } from "@causeway/foundation";
import type { CloudOptions } from "./commands/cloud.ts";
import type { UpOptions } from "./commands/up.ts";
import { apiserverCommand } from "./definitions/apiserver.ts";
import { doctorCommand, planCommand, sweepCommand } from "./definitions/inspect.ts";
import { logLevel, settled, whole } from "./definitions/options.ts";
import { runCommand } from "./definitions/run.ts";

/** The command line of causeway. A command's code is loaded when it is run, so that help and a machine's process stay small. Every command runs until it is done or `signal` aborts. */
export function program(signal: AbortSignal): Command {
  const root = new Command("causeway")
    .description(
      "Managed Kubernetes on OpenStack, from nothing: one process, no Kubernetes needed to make a Kubernetes.",
    )
    .version("0.1.0")
    .addHelpText(
      "after",
      `
Examples:
  causeway up --demo                       a managed cluster on a simulated cloud, with nothing installed
  causeway up --demo --cloud devcloud      the same on a real OpenStack
  causeway cloud                           a simulated OpenStack alone, for any client
  causeway apiserver                       a Kubernetes API server alone
  causeway machine-agent --cloud devcloud  play the machines of a cloud that has none
  causeway run cloud-controller-manager    nodes, routes and load balancers of a Kubernetes of your own
  causeway doctor --cloud devcloud         what will work on a cloud, what not, and what to do
  causeway plan service default/web        what a reconcile would do, and the calls it costs
  causeway sweep --cluster-name prod       remove what dead Services left in the cloud
  causeway up --help                       every option, with more examples`,
    );
  root.addCommand(upCommand(signal));
  root.addCommand(cloudCommand(signal));
  root.addCommand(
    apiserverCommand(async (flags) => (await import("./commands/apiserver.ts")).apiserver(flags, signal)),
  );
  root.addCommand(machineAgentCommand(signal));
  root.addCommand(runCommand(signal));
  root.addCommand(doctorCommand(signal));
  root.addCommand(planCommand(signal));
  root.addCommand(sweepCommand(signal));
  root.addCommand(machineCommand(signal), { hidden: true });
  return settled(root);
}

function upCommand(signal: AbortSignal): Command {
  return new Command("up")
    .description(
      "Run the embedded API server and every controller in this process, on a simulated cloud or on a real one.",
    )
    .option("--cloud <name>", "entry of clouds.yaml to run on (default: a simulated cloud inside this process)")
    .option("--state <dir>", "folder that keeps everything over restarts", ".causeway")
    .option("--demo", "bring up the sample cluster `demo` and show how it goes", false)
    .addOption(
      new Option("--exit-when-ready", "end with status 0 when the demo is ready, non-zero when it cannot become so")
        .default(false)
        .implies({ demo: true }),
    )
    .option("--timeout <seconds>", "with --exit-when-ready: end with an error after so long", whole(1, 86_400), 900)
    .option(
      "--port <port>",
      "port of the management API (default: any free one, kept in the state folder)",
      whole(1, 65535),
    )
    .option(
      "--advertise-address <address>",
      "address at which machines reach this host (default: found by asking the cloud)",
    )
    .option("--replicas <count>", "with --demo: workers to start with", whole(1, 1000), 3)
    .option("--flavor <name>", "with --demo: flavor of the workers", "m1.small")
    .option("--image <name>", "with --demo: image of the workers", "cirros")
    .addOption(
      new Option("--delays <kind>", "provisioning delays of the simulated cloud")
        .choices(["instant", "real"])
        .default("instant"),
    )
    .addOption(
      new Option("-o, --output <format>", "with --demo: how the result is written on standard output")
        .choices(["table", "json", "yaml"])
        .default("table"),
    )
    .addOption(logLevel())
    .addHelpText(
      "after",
      `
Examples:
  causeway up --demo                          a managed cluster on a simulated cloud, with nothing installed
  causeway up --demo --cloud devcloud         the same on a real OpenStack
  causeway up --demo --exit-when-ready        for scripts: ends when the cluster is ready
  causeway up --exit-when-ready -o json | jq -r .kubeconfigs.workload
  causeway up --state /var/lib/causeway --port 6443 --cloud prod`,
    )
    .action(async (options: UpOptions) => (await import("./commands/up.ts")).up(options, signal));
}

function cloudCommand(signal: AbortSignal): Command {
  return new Command("cloud")
    .description("Run a simulated OpenStack alone, with seeded projects and a clouds.yaml, until it is stopped.")
    .option("--state <dir>", "folder that keeps what is in the cloud, and its clouds.yaml", ".causeway/cloud")
    .option("--port <port>", "port on loopback (default: any free one, kept in the state folder)", whole(1, 65535))
    .addOption(new Option("--delays <kind>", "provisioning delays").choices(["instant", "real"]).default("instant"))
    .addOption(
      new Option("-o, --output <format>", "how to reach it, on standard output")
        .choices(["table", "json", "yaml"])
        .default("table"),
    )
    .addOption(logLevel())
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
    .action(async (options: CloudOptions) => (await import("./commands/cloud.ts")).cloud(options, signal));
}

function machineAgentCommand(signal: AbortSignal): Command {
  return new Command("machine-agent")
    .description("Play the machines of a cloud whose servers are network namespaces of this host: boot, join, live.")
    .requiredOption("--cloud <name>", "entry of clouds.yaml whose project's servers to play")
    .option("--admin-cloud <name>", "entry with an administrator's account (default: NAME-admin)")
    .option("--state <dir>", "folder that holds the machines' disks", ".causeway/machine-agent")
    .addOption(logLevel().default("info"))
    .addHelpText(
      "after",
      `
Examples:
  causeway machine-agent --cloud devcloud
  causeway machine-agent --cloud devcloud --admin-cloud operator --log-level debug`,
    )
    .action(async (options: { cloud: string; adminCloud?: string; state: string; logLevel: LogLevel }) =>
      (await import("./commands/machine-agent.ts")).machineAgent(
        {
          ...options,
          program: [
            process.execPath,
            ...process.execArgv,
            "--max-semi-space-size=1",
            process.argv[1] ?? "",
            "machine",
            "--log-level",
            options.logLevel,
          ],
        },
        signal,
      ),
    );
}

function machineCommand(signal: AbortSignal): Command {
  return new Command("machine")
    .description("Play one machine, described on standard input as JSON.")
    .requiredOption("--disk <dir>", "folder that is the machine's disk")
    .addOption(logLevel())
    .addHelpText("after", "\nExamples:\n  causeway machine --disk /var/lib/machine-1 < machine-1.json")
    .action(async (options: { disk: string; logLevel: LogLevel }) =>
      (await import("./commands/machine.ts")).oneMachine(options, signal),
    );
}
