import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { scriptFor, type Completed } from "./script.ts";

/** Writes the completion script of a shell to standard output. */
export function completion(shell: "bash" | "zsh" | "fish", root: CommandUnknownOpts): void {
  process.stdout.write(scriptFor(shell, completed(root, "")));
}

/** A command and all below it, with the words that may follow each. */
function completed(command: CommandUnknownOpts, before: string): Completed[] {
  const path = `${before}${before === "" ? "" : " "}${command.name()}`;
  const visible = command.createHelp().visibleCommands(command);
  const options = command.createHelp().visibleOptions(command);
  const words = [
    ...visible.map((child) => ({ word: child.name(), text: child.description() })),
    ...options.flatMap((option) => {
      const word = option.long ?? option.short;
      return word ? [{ word, text: option.description }] : [];
    }),
  ];
  const children = visible.filter((child) => child.name() !== "help");
  return [{ path, words }, ...children.flatMap((child) => completed(child, path))];
}
