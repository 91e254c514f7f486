import { Command, Option } from "@commander-js/extra-typings";
import { managementOptions } from "../../clusters/options.ts";
import { logLevelOption } from "../../options/logging.ts";
import { outputOption } from "../../options/output.ts";
import { cloudOptions } from "../../options/places.ts";

/** What the phases of `causeway migrate magnum` are given. */
export type MigrateOptions = ReturnType<ReturnType<typeof phaseOptions>["opts"]>;
/** What `causeway migrate magnum discover` is given. */
export type DiscoverOptions = ReturnType<ReturnType<typeof discoverOptions>["opts"]>;
/** What `causeway migrate magnum status` is given. */
export type StatusOptions = ReturnType<ReturnType<typeof statusOptions>["opts"]>;
/** The phases in their order; rollback is possible until retire has begun. */
export type PhaseCommand = "freeze" | "import" | "switch" | "adopt" | "roll" | "retire" | "rollback";

const texts: Readonly<Record<PhaseCommand, string>> = {
  freeze: "Stop Magnum and Heat from changing the cluster.",
  import: "Import its keys, and add a hosted member to its etcd.",
  switch: "Point the API's load balancer at the hosted control plane, and stop the control plane on the masters.",
  adopt: "Make a Machine of each worker; no server is changed.",
  roll: "Replace the workers by those of Cluster API, one at a time.",
  retire: "Abandon the Heat stacks, and delete what only the masters needed. This cannot be rolled back.",
  rollback: "Undo all completed phases; impossible once retire has begun.",
};

const offered = Object.keys(texts) as readonly PhaseCommand[];

/** Clusters of Magnum's Heat driver become Cluster API objects with hosted control planes. */
export function migrateCommand(signal: AbortSignal) {
  const magnum = new Command("magnum")
    .description("Move a cluster that Magnum's Heat driver made to a hosted control plane, live.")
    .addHelpText(
      "after",
      `
Examples:
  causeway migrate magnum discover web --dry-run
  causeway migrate magnum freeze web --source-kubeconfig config --machine-shell 'ssh core@{address} sudo' --dry-run`,
    )
    .addCommand(discoverCommand(signal))
    .addCommand(statusCommand(signal));
  for (const phase of offered) magnum.addCommand(phaseCommand(phase, signal));
  return new Command("migrate")
    .description("Move clusters that other programs made.")
    .addHelpText("after", "\nExamples:\n  causeway migrate magnum discover web --dry-run")
    .addCommand(magnum);
}

function discoverCommand(signal: AbortSignal) {
  return discoverOptions().action(async (cluster, given) =>
    (await import("./action.ts")).discover(cluster, given, signal),
  );
}

function statusCommand(signal: AbortSignal) {
  return statusOptions().action(async (cluster, given) => (await import("./action.ts")).status(cluster, given, signal));
}

function phaseCommand(phase: PhaseCommand, signal: AbortSignal) {
  return phaseOptions(phase).action(async (cluster, given) =>
    (await import("./action.ts")).phase(phase, cluster, given, signal),
  );
}

function base(name: string, text: string) {
  return new Command(name)
    .description(text)
    .argument("<cluster>", "name or UUID of the cluster")
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context())
    .addOption(outputOption());
}

function discoverOptions() {
  return base("discover", "Read a cluster from Magnum, Heat and the cloud, and report what blocks a migration.")
    .addOption(cloudOptions.cloud())
    .addOption(cloudOptions.insecure())
    .addOption(cloudOptions.cacert())
    .option("--dry-run", "show the inventory without recording it", false)
    .addOption(logLevelOption())
    .addHelpText(
      "after",
      `
Only GET requests are sent to the cloud. It exits with status 2 when something blocks a migration.

Examples:
  causeway migrate magnum discover web --cloud prod --dry-run -o yaml`,
    );
}

function statusOptions() {
  return base("status", "Show the completed phases of a migration, and the checks that each one passed.").addHelpText(
    "after",
    "\nExamples:\n  causeway migrate magnum status web",
  );
}

/** Not every phase has something of its own to be said about. */
const examples: Readonly<Partial<Record<PhaseCommand, string>>> = {
  adopt: " --node-image ubuntu-24.04-kube-v1.34.4",
  roll: " --node-image ubuntu-24.04-kube-v1.34.4",
};

function phaseOptions(phase: PhaseCommand) {
  return base(phase, texts[phase])
    .addOption(cloudOptions.cloud())
    .addOption(cloudOptions.insecure())
    .addOption(cloudOptions.cacert())
    .option("--dry-run", "show all steps that are left, and change nothing", false)
    .requiredOption("--source-kubeconfig <file>", "an administrator's, of the cluster that is migrated")
    .requiredOption(
      "--machine-shell <command>",
      "runs commands as root on a machine: 'ssh -o BatchMode=yes core@{address} sudo'",
    )
    .addOption(
      new Option("--etcd-urls <urls>", "of the masters' etcd, separated by commas (default: port 2379 of each master)"),
    )
    .addOption(
      new Option(
        "--peer-host <address>",
        "address at which the masters reach the hosted control plane's machine",
      ).default("127.0.0.1"),
    )
    .option(
      "--ca-key <file>",
      "freeze, import: private key of the cluster's CA, as PEM, for clusters without label cert_manager_api=true",
    )
    .option(
      "--accept-unreachable",
      "switch: also while the hosted API server does not reach Services of webhooks and APIServices",
      false,
    )
    .option(
      "--node-image <image>",
      "adopt, roll: name or id of the image of new nodes, with cloud-init, containerd, kubelet and kubeadm (default: Heat's)",
    )
    .option(
      "--magnum-sql <command>",
      "retire: runs SQL of its standard input on Magnum's database: 'ssh controller sudo mysql --batch magnum'",
    )
    .option("--admin-cloud <name>", "retire: an entry of clouds.yaml that may delete Magnum's trustee")
    .option("-y, --yes", "retire: do not ask before the first step", false)
    .addOption(logLevelOption())
    .addHelpText(
      "after",
      `
Every step is printed before it is done. A phase that ended in the middle continues when it is run
again. The proof is printed at the end. One command at a time works on a cluster. Retire shows its
steps and asks first: it cannot be rolled back.

Examples:
  causeway migrate magnum ${phase} web --cloud prod --source-kubeconfig config --machine-shell 'ssh core@{address} sudo' --peer-host 192.0.2.10${examples[phase] ?? ""} --dry-run`,
    );
}
