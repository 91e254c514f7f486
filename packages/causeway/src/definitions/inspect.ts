import { Command, Option } from "commander";
import type { DoctorOptions } from "../commands/doctor.ts";
import type { PlanOptions } from "../commands/plan.ts";
import type { SweepCommandOptions } from "../commands/sweep.ts";

function output(): Option {
  return new Option("-o, --output <format>", "how the result is written on standard output")
    .choices(["table", "json", "yaml"])
    .default("table");
}

function logLevel(): Option {
  return new Option("--log-level <level>", "what to log on standard error, as JSON lines")
    .choices(["debug", "info", "warn", "error", "silent"])
    .default("warn");
}

const cloudText = "entry of clouds.yaml (default: OS_CLOUD, or the only one)";
const kubeconfigText = "of the cluster (default: KUBECONFIG, or ~/.kube/config)";
const clusterNameText = "what names in the cloud begin with, as the controller's --cluster-name";

/** Reads a cloud and says what will work on it. */
export function doctorCommand(signal: AbortSignal): Command {
  return new Command("doctor")
    .description(
      "Read a cloud's versions, providers, quotas and clocks, and say what will work, what not, and what to do.",
    )
    .option("--cloud <name>", cloudText)
    .option("--kubeconfig <file>", "look at this cluster, too")
    .addOption(output())
    .addOption(logLevel())
    .addHelpText(
      "after",
      `
It only reads. It ends with status 0, or with 3 when something is broken that a cluster needs, 2 for wrong input, 1 when the
cloud cannot be asked.

Examples:
  causeway doctor --cloud devcloud
  causeway doctor --cloud prod --kubeconfig admin.conf
  causeway doctor --cloud prod -o json | jq '.findings[] | select(.state != "works")'`,
    )
    .action(async (options: DoctorOptions) => (await import("../commands/doctor.ts")).doctor(options, signal));
}

/** Removes orphans. */
export function sweepCommand(signal: AbortSignal): Command {
  return new Command("sweep")
    .description(
      "Remove what Services that are no more left in the cloud: load balancers, security groups, floating IPs.",
    )
    .option("--cloud <name>", cloudText)
    .requiredOption("--cluster-name <name>", clusterNameText)
    .option("--kubeconfig <file>", kubeconfigText)
    .option("--dry-run", "only tell what there is", false)
    .option(
      "--floating-ips",
      "also addresses that nothing uses: they may have been kept on purpose (keep-floatingip)",
      false,
    )
    .addOption(output())
    .addOption(logLevel())
    .addHelpText(
      "after",
      `
Only what bears this cluster's names and descriptions together is taken for its own. A cluster none of whose nodes is a server of
the project is refused. It ends with status 0, with 1 when something would not go, with 2 for wrong input.

Examples:
  causeway sweep --cloud prod --cluster-name prod --dry-run
  causeway sweep --cloud prod --cluster-name prod --kubeconfig admin.conf
  causeway sweep --cloud prod --cluster-name prod --floating-ips -o json`,
    )
    .action(async (options: SweepCommandOptions) => (await import("../commands/sweep.ts")).sweep(options, signal));
}

/** Explains what would be done. */
export function planCommand(signal: AbortSignal): Command {
  const plan = new Command("plan").description("Tell what a reconcile would do now, and do nothing of it.").addHelpText(
    "after",
    `
Examples:
  causeway plan service default/web --cloud prod --cluster-name prod`,
  );
  plan.addCommand(
    new Command("service")
      .description("The steps towards a Service's load balancer, and the calls they take.")
      .argument("<name>", "NAMESPACE/NAME")
      .option("--cloud <name>", cloudText)
      .option("--cloud-config <file>", "cloud.conf, in place of an entry of clouds.yaml")
      .option("--kubeconfig <file>", kubeconfigText)
      .option("--cluster-name <name>", clusterNameText, "kubernetes")
      .addOption(output())
      .addOption(logLevel())
      .addHelpText(
        "after",
        `
It only reads, and tells every round to the end, as if nothing else happened: the security group's first, where they are managed.
It ends with status 0, with 2 for wrong input or where there is no such Service, with 1 when cloud or cluster cannot be asked.

Examples:
  causeway plan service default/web --cloud prod --cluster-name prod
  causeway plan service default/web --cloud-config cloud.conf --kubeconfig admin.conf -o json`,
      )
      .action(async (name: string, options: PlanOptions) =>
        (await import("../commands/plan.ts")).planService(name, options, signal),
      ),
  );
  return plan;
}
