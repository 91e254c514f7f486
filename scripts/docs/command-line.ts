import { program } from "@causeway/causeway";
import type { Page } from "./page.ts";

type Command = ReturnType<typeof program>["commands"][number];

/** The rule that program.test.ts and documents.test.ts of packages/causeway hold. */
const OUTPUT = `## Output for programs

Every command with \`-o\` prints its result as text for people, or with \`-o json\` and \`-o yaml\` as one whole document
on standard output, and nothing else there: JSON with an indentation of two spaces, as kubectl and the openstack client,
never one object for each line. Several Kubernetes objects are a \`List\` (\`.items\`), other results of a list are an array.
Progress, questions and warnings go to standard error. Commands that remain running (\`up\`, \`cloud\`) print the document
once, when they are ready; its last line is \`}\`.`;

/** One page with every command, its arguments, options and examples, as `--help` has them. */
export function commandLinePage(): Page {
  const root = program(new AbortController().signal);
  const sections = root.commands
    .filter((c) => c.name() !== "machine")
    .flatMap((command) => describe(command, "causeway"));
  const text = [
    "# Command line",
    "Generated from the program. `causeway COMMAND --help` prints the same.",
    OUTPUT,
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
