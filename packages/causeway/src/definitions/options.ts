import { InvalidArgumentError, Option, type Command } from "commander";

const levels = ["debug", "info", "warn", "error", "silent"] as const;

export function logLevel(): Option {
  return new Option("--log-level <level>", "what to log on standard error, as JSON lines")
    .choices([...levels])
    .default("warn");
}

/** A parser of whole numbers from `minimum` to `maximum`. */
export function whole(minimum: number, maximum: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!Number.isInteger(number) || number < minimum || number > maximum)
      throw new InvalidArgumentError(`must be a whole number from ${minimum} to ${maximum}.`);
    return number;
  };
}

/** The same for all commands below a root: help after an error, and status 2 when the command line is wrong. */
export function settled(root: Command): Command {
  root.showHelpAfterError("(run it with --help for examples)");
  // Commands that are added do not take these over from their parent.
  const all = [root, ...root.commands, ...root.commands.flatMap((command) => command.commands)];
  for (const command of all) {
    if (command !== root) command.copyInheritedSettings(root);
    command.exitOverride((error) => process.exit(error.exitCode === 1 ? 2 : error.exitCode));
  }
  return root;
}
