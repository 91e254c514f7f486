import { Command, Option } from "@commander-js/extra-typings";

/** What `causeway restore` is given. */
export type RestoreOptions = ReturnType<ReturnType<typeof options>["opts"]>;

/** Restores a backup. */
export function restoreCommand() {
  return options()
    .addHelpText(
      "after",
      `
Objects keep their UIDs and resource versions, so controllers and clients go on. The folder must be empty or not there: move the old one away first, and stop
what runs on it: two programs with one identity would both write to the cloud.

Examples:
  causeway restore /backups/monday --state /var/lib/causeway
  causeway restore api.backup --state .causeway/kubernetes --for apiserver`,
    )
    .action(async (file, given) => (await import("./action.ts")).restore(file, given));
}

function options() {
  return new Command("restore")
    .description("Make a state folder from a backup.")
    .argument("<file>", "file that causeway backup wrote")
    .option("--state <dir>", "state folder to make", ".causeway")
    .addOption(
      new Option("--for <command>", "the command that will run on it").choices(["up", "apiserver"]).default("up"),
    );
}
