import { program } from "@causeway/causeway";
import type { Page } from "./page.ts";

type Command = ReturnType<typeof program>["commands"][number];

/** One page with every command, its arguments, options and examples, as `--help` has them. */
export function commandLinePage(): Page {
  const root = program(new AbortController().signal);
  const sections = root.commands
    .filter((c) => c.name() !== "machine")
    .flatMap((command) => describe(command, "causeway"));
  const text = [
    "# Command line",
    "Generated from the program. `causeway COMMAND --help` prints the same.",
    ...sections,
  ].join("\n\n");
  return { path: "docs/reference/command-line.md", text: `${text}\n` };
}

function describe(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`;
  let help = "";
  command.configureOutput({
    writeOut: (text) => (help += text),
    getOutHelpWidth: () => 100,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  const own = [`## ${name}`, `\`\`\`text\n${help.trimEnd()}\n\`\`\``];
  return [...own, ...command.commands.flatMap((inner) => describe(inner, name))];
}
