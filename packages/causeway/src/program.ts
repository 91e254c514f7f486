import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { apiserverCommand } from "./commands/apiserver/command.ts";
import { createCommand } from "./commands/create/command.ts";
import { deleteCommand } from "./commands/delete/command.ts";
import { describeCommand } from "./commands/describe/command.ts";
import { explainCommand } from "./commands/explain/command.ts";
import { generateCommand } from "./commands/generate/command.ts";
import { getCommand } from "./commands/get/command.ts";
import { rotateCommand } from "./commands/rotate/command.ts";
import { kubeconfigCommand } from "./commands/kubeconfig/command.ts";
import { backupCommand } from "./commands/backup/command.ts";
import { cloudCommand } from "./commands/cloud/command.ts";
import { completionCommand } from "./commands/completion/command.ts";
import { doctorCommand } from "./commands/doctor/command.ts";
import { keystoneTokenCommand } from "./commands/keystone-token/command.ts";
import { machineAgentCommand } from "./commands/machine-agent/command.ts";
import { machineCommand } from "./commands/machine/command.ts";
import { migrateCommand } from "./commands/migrate/command.ts";
import { moveCommand } from "./commands/move/command.ts";
import { planCommand } from "./commands/plan/command.ts";
import { restoreCommand } from "./commands/restore/command.ts";
import { runCommand } from "./commands/run/command.ts";
import { sweepCommand } from "./commands/sweep/command.ts";
import { upCommand } from "./commands/up/command.ts";
import { versionCommand } from "./commands/version/command.ts";
import { ownVersion } from "./release.ts";
import { settled } from "./terminal/settle.ts";
import { withVerbosity } from "./options/verbosity.ts";
import { wrapHelp } from "./terminal/wrap-help.ts";

/** The commands in the order of the help. Each folder of commands/ has one. */
const commands: readonly ((signal: AbortSignal) => CommandUnknownOpts)[] = [
  upCommand,
  cloudCommand,
  (signal) =>
    apiserverCommand(async (flags) => (await import("./commands/apiserver/action.ts")).apiserver(flags, signal)),
  machineAgentCommand,
  getCommand,
  createCommand,
  describeCommand,
  kubeconfigCommand,
  rotateCommand,
  deleteCommand,
  generateCommand,
  backupCommand,
  restoreCommand,
  migrateCommand,
  moveCommand,
  runCommand,
  doctorCommand,
  explainCommand,
  planCommand,
  sweepCommand,
  versionCommand,
  keystoneTokenCommand,
];

/**
 * The command line of causeway. A command's code is loaded when it is run, so that help and a machine's process remain
 * small. Every command runs until it is done or `signal` aborts.
 * @example
 * await program(AbortSignal.timeout(60_000)).parseAsync(["doctor"], { from: "user" });
 */
export function program(signal: AbortSignal): CommandUnknownOpts {
  const root = new Command("causeway")
    .description(
      "Managed Kubernetes on OpenStack, from nothing: one process, no Kubernetes needed to make a Kubernetes.",
    )
    .version(ownVersion())
    .addHelpText(
      "after",
      `
Examples:
  causeway up --demo                       a managed cluster on a simulated cloud, with nothing installed
  causeway up --demo --cloud devcloud      the same on a real OpenStack
  causeway cloud                           a simulated OpenStack alone, for any client
  causeway apiserver                       a Kubernetes API server alone
  causeway machine-agent --cloud devcloud  play the machines of a cloud that has none
  causeway create cluster web              a cluster next to the demo
  causeway describe cluster web            a cluster's objects, and what each waits for
  causeway move --to-kubeconfig target     clusters to another management cluster
  causeway run cloud-controller-manager    nodes, routes and load balancers of a Kubernetes of your own
  causeway doctor --cloud devcloud         what will work on a cloud, what not, and what to do
  causeway plan service default/web        what a reconcile would do, and the calls it costs
  causeway sweep --cluster-name prod       delete orphans of deleted Services in the cloud
  causeway version                         commit, and supported versions of Kubernetes
  causeway keystone-token --cloud prod     a Keystone token for kubectl
  causeway up --help                       every option, with more examples`,
    );
  for (const command of commands) root.addCommand(command(signal));
  root.addCommand(completionCommand(() => root));
  root.addCommand(machineCommand(signal), { hidden: true });
  return wrapping(settled(withVerbosity(root)));
}

/** Has help texts of the command and of those below it broken at the terminal's width. */
function wrapping(command: CommandUnknownOpts): CommandUnknownOpts {
  // Undefined without a terminal; 0 of a terminal whose size is not known. Longer lines are hard to read.
  const width = () => Math.min(process.stdout.columns || 80, 100);
  command.configureOutput({ writeOut: (text) => void process.stdout.write(wrapHelp(text, width())) });
  for (const inner of command.commands) wrapping(inner);
  return command;
}
