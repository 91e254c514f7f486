import { Command } from "@commander-js/extra-typings";
import { components } from "./components.ts";
import { severalCommand } from "./several/command.ts";

/** `causeway run COMPONENT`: one subcommand for each entry of the table of components. */
export function runCommand(signal: AbortSignal) {
  const run = new Command("run")
    .description("Run one component against a Kubernetes of your own.")
    .addHelpText("after", `\nExamples:\n${components.map(({ example }) => `  causeway run ${example}`).join("\n")}`);
  for (const { command } of components) run.addCommand(command(signal));
  run.addCommand(severalCommand(components, signal));
  return run;
}
