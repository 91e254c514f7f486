import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { exitStatus } from "./report-error.ts";

/** The same for all commands below a root: help after an error, and status 2 when the command line is wrong. */
export function settled<C extends CommandUnknownOpts>(root: C): C {
  root.showHelpAfterError("(run it with --help for examples)");
  // Commands that are added do not take these over from their parent.
  for (const command of allOf(root)) {
    if (command !== root) command.copyInheritedSettings(root);
    command.exitOverride((error) => process.exit(error.exitCode === 1 ? exitStatus.usage : error.exitCode));
  }
  return root;
}

function allOf(command: CommandUnknownOpts): CommandUnknownOpts[] {
  return [command, ...command.commands.flatMap(allOf)];
}
