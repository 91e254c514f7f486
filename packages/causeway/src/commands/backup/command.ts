import { Command } from "@commander-js/extra-typings";

/** What `causeway backup` is given. */
export type BackupOptions = ReturnType<ReturnType<typeof options>["opts"]>;

/** Writes a backup. */
export function backupCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
The file has every object of the management cluster and of all hosted control planes, their authorities and keys, as of one moment. It is as secret as
the state folder, and has mode 0600. The program may run meanwhile, and serves requests. What is in a simulated cloud is not in it.

Examples:
  causeway backup /backups/monday
  causeway backup /backups/monday --state /var/lib/causeway
  causeway backup api.backup --state .causeway/kubernetes`,
    )
    .action(async (file, given) => (await import("./action.ts")).backup(file, given, signal));
}

function options() {
  return new Command("backup")
    .description("Write the API server's state to one file, while it runs or stopped.")
    .argument("<file>", "file to write")
    .option("--state <dir>", "state folder of `causeway up` or `causeway apiserver`", ".causeway");
}
