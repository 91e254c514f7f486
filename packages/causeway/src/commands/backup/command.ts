import { Command } from "@commander-js/extra-typings";
import { backupStoreOptions } from "../../backups/options.ts";
import { managementOptions } from "../../clusters/options.ts";
import { whole } from "../../options/numbers.ts";
import { outputOption } from "../../options/output.ts";

/** What `causeway backup` is given. */
export type BackupOptions = ReturnType<ReturnType<typeof options>["opts"]>;

/** What `causeway backup control-plane` is given. */
export type BackupControlPlaneOptions = ReturnType<ReturnType<typeof controlPlaneOptions>["opts"]>;

/** What `causeway backup list` is given. */
export type ListBackupsOptions = ReturnType<ReturnType<typeof listOptions>["opts"]>;

/** Writes a backup. */
export function backupCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
The file has every object of the management cluster and of all embedded control planes, their
authorities and keys, as of one moment. It is as secret as the state folder, and has mode 0600. The
program may run meanwhile, and serves requests. What is in a simulated cloud is not in it, and
neither is the data of control planes as processes or pods: they have backups of their own (causeway
backup control-plane). A file with the name of one of the commands below is written as ./list.

Examples:
  causeway backup /backups/monday
  causeway backup /backups/monday --state /var/lib/causeway
  causeway backup api.backup --state .causeway/kubernetes
  causeway backup control-plane tenants/web
  causeway backup list -A`,
    )
    .action(async (file, given) => (await import("./action.ts")).backup(file, given, signal))
    .addCommand(
      controlPlaneOptions()
        .addHelpText(
          "after",
          `
The control plane has spec.backup, and runs as processes or pods. It takes a backup of all data now,
whatever its schedule says, and continues serving. Interrupted, the backup is created nevertheless.

It exits with status 0, with 1 after a timeout, with 2 where there is no such control plane or
it has no backups.

Examples:
  causeway backup control-plane tenants/web
  causeway backup control-plane web -n tenants --timeout 3600
  causeway backup control-plane tenants/web -o json | jq -r .time`,
        )
        .action(async (name, given) => (await import("./control-plane.ts")).backupControlPlane(name, given, signal)),
    )
    .addCommand(
      listOptions()
        .addHelpText(
          "after",
          `
Without a store it lists what the control planes of the management cluster say of their backups: to
every moment from the oldest to the newest they can be restored. With a store (--backup-cloud or
--backup-s3-endpoint) it lists what is there, also of control planes that were deleted, and with a
name each backup. It reads names only, and needs no key.

It exits with status 0, also when there is none, and with 2 where a name or a store is wrong.

Examples:
  causeway backup list
  causeway backup list tenants/web
  causeway backup list tenants/web --backup-cloud production
  causeway backup list --backup-s3-endpoint https://s3.example.org --backup-s3-keys ./keys -o yaml`,
        )
        .action(async (name, given) => (await import("./list.ts")).listBackups(name, given, signal)),
    );
}

function options() {
  return new Command("backup")
    .description("Write the API server's state to one file, or back one control plane up.")
    .argument("<file>", "file to write")
    .option("--state <dir>", "state folder of `causeway up` or `causeway apiserver`", ".causeway");
}

function controlPlaneOptions() {
  return new Command("control-plane")
    .description("Back a hosted control plane up now: all data and keys, to the operator's object store.")
    .argument("<name>", "name of the control plane or of its cluster, or namespace/name")
    .addOption(managementOptions.namespace())
    .option("--no-wait", "return as soon as it is requested")
    .option("--timeout <seconds>", "longest time to wait", whole(1, 86_400), 900)
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context())
    .addOption(outputOption());
}

function listOptions() {
  return new Command("list")
    .description("List the backups of hosted control planes.")
    .argument("[name]", "one control plane, or namespace/name (default: all of the namespace)")
    .addOption(managementOptions.namespace())
    .option("-A, --all-namespaces", "control planes of every namespace", false)
    .addOption(backupStoreOptions.cloud())
    .addOption(backupStoreOptions.s3Endpoint())
    .addOption(backupStoreOptions.s3Region())
    .addOption(backupStoreOptions.s3Secret())
    .addOption(backupStoreOptions.s3Keys())
    .addOption(backupStoreOptions.container("the container or bucket"))
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context())
    .addOption(outputOption());
}
