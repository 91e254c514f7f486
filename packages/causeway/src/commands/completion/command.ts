import { Argument, Command, type CommandUnknownOpts } from "@commander-js/extra-typings";

const shells = ["bash", "zsh", "fish"] as const;

/** `causeway completion SHELL`: `root` is the program whose commands and options are completed. */
export function completionCommand(root: () => CommandUnknownOpts) {
  return new Command("completion")
    .description("Print the script that completes commands and options in a shell.")
    .addArgument(new Argument("<shell>", "the shell that reads the script").choices(shells))
    .addHelpText(
      "after",
      `
Examples:
  causeway completion bash > /etc/bash_completion.d/causeway
  causeway completion zsh > "\${fpath[1]}/_causeway"
  causeway completion fish > ~/.config/fish/completions/causeway.fish`,
    )
    .action(async (shell) => (await import("./action.ts")).completion(shell, root()));
}
