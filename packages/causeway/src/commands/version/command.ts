import { Command } from "@commander-js/extra-typings";
import { outputOption } from "../../options/output.ts";

/** What `causeway version` is given. */
export type VersionOptions = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway version`. */
export function versionCommand() {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway version
  causeway version -o json | jq -r .commit`,
    )
    .action(async (given) => (await import("./action.ts")).version(given));
}

function options() {
  return new Command("version")
    .description("Show the version, its commit, and the versions of Kubernetes that it serves.")
    .addOption(outputOption());
}
