import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { suggestion } from "@causeway/foundation";
import { exitStatus } from "./report-error.ts";

/** The same for all commands below a root: help after an error, and status 2 when the command line is wrong. */
export function settled<C extends CommandUnknownOpts>(root: C): C {
  root.showHelpAfterError("(run it with --help for examples)");
  // Otherwise `sweep` takes the --dry-run of `sweep clusters old --dry-run` for its own.
  root.enablePositionalOptions();
  // Commands that are added do not take these over from their parent.
  for (const command of allOf(root)) {
    if (command !== root) command.copyInheritedSettings(root);
    if (command !== root) command.hook("preSubcommand", refuseEarlyOptions);
    if (command.commands.length > 0) command.on("beforeHelp", (context) => refuseUnknown(command, context));
    command.exitOverride((error) => process.exit(error.exitCode === 1 ? exitStatus.usage : error.exitCode));
  }
  return root;
}

/** Options of a command before the name of one below it would be ignored: both have options of these names. */
function refuseEarlyOptions(command: CommandUnknownOpts, chosen: CommandUnknownOpts): void {
  const early = command.options.find((option) => command.getOptionValueSource(option.attributeName()) === "cli");
  if (early === undefined) return;
  command.error(
    `error: option '${early.flags}' is given before '${chosen.name()}', and would be ignored: give it after`,
  );
}

/** `help frob` would print the whole help, as if something else was wrong. */
function refuseUnknown(command: CommandUnknownOpts, { error: isError }: { readonly error: boolean }): void {
  const [first, wanted] = command.args;
  const names = command.commands.map((each) => each.name());
  if (!isError || first !== "help" || wanted === undefined || names.includes(wanted)) return;
  command.error(`error: unknown command '${wanted}'${suggestion(wanted, names)}`);
}

function allOf(command: CommandUnknownOpts): CommandUnknownOpts[] {
  return [command, ...command.commands.flatMap(allOf)];
}
