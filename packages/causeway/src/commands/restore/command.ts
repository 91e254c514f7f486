import { Command, Option } from "@commander-js/extra-typings";
import { managementOptions } from "../../clusters/options.ts";
import { whole } from "../../options/numbers.ts";
import { outputOption } from "../../options/output.ts";

/** What `causeway restore` is given. */
export type RestoreOptions = ReturnType<ReturnType<typeof options>["opts"]>;

/** What `causeway restore control-plane` is given. */
export type RestoreControlPlaneOptions = ReturnType<ReturnType<typeof controlPlaneOptions>["opts"]>;

/** Restores a backup. */
export function restoreCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Objects keep their UIDs and resource versions, so controllers and clients continue. The folder must
be empty or not there: move the old one away first, and stop what runs on it: two programs with one
identity would both write to the cloud.

What was created since the backup is not in the state. Until causeway up has started with
--confirm-restore, no server, volume, load balancer, floating IP, network, secret, backup or other
whole resource is deleted, and no floating IP is detached: conditions, events and the log have
CLOUD_DELETIONS_HELD. Parts and links are removed as ever: members and listeners of load balancers,
attachments of volumes, rules, routes of nodes. What the state has and the cloud has not is created.
The hold is of causeway up alone: not of causeway run, nor of a state --for apiserver.

Examples:
  causeway restore /backups/monday --state /var/lib/causeway
  causeway restore api.backup --state .causeway/kubernetes --for apiserver
  causeway restore control-plane web-copy -n tenants --from web --at 2026-01-02T03:00:00Z`,
    )
    .action(async (file, given) => (await import("./action.ts")).restore(file, given))
    .addCommand(
      controlPlaneOptions()
        .addHelpText(
          "after",
          `
Creates a Cluster and a HostedControlPlane with the data and keys of a backup, in the namespace of
the one that was backed up, and waits until its API serves. While the old one exists, its version,
networks and settings are copied from it; of one that was deleted give NAME/UID (causeway backup
list) and the options that say them. The cluster has no infrastructure: --dry-run prints the
objects, to be completed and applied by hand.

The cloud of the old one is left out unless --with-cloud is given: two control planes would manage
the same nodes and load balancers. Delete or hibernate the old one first. Kubelets of the old one
find the new one by its name only: give it the same --endpoint.

It exits with status 0, with 1 after a timeout, with 2 where something is wrong: nothing was
created then.

Examples:
  causeway restore control-plane web-copy -n tenants --from web
  causeway restore control-plane tenants/web-copy --from web --at 2026-01-02T03:00:00Z
  causeway restore control-plane tenants/web --from web/5d2c0c3e-7d0c-4c52-9a8e-0d6c1d9f6c11 --kubernetes-version v1.34.4 --runtime Pods
  causeway restore control-plane tenants/web-copy --from web --dry-run -o yaml`,
        )
        .action(async (name, given) => (await import("./control-plane.ts")).restoreControlPlane(name, given, signal)),
    );
}

function options() {
  return new Command("restore")
    .description("Make a state folder from a backup, or one control plane.")
    .argument("<file>", "file that causeway backup wrote")
    .option("--state <dir>", "state folder to make", ".causeway")
    .addOption(
      new Option("--for <command>", "the command that will run on it").choices(["up", "apiserver"]).default("up"),
    );
}

function controlPlaneOptions() {
  return new Command("control-plane")
    .description("Create a hosted control plane from a backup of one, to a point in time.")
    .argument("<name>", "name of the new control plane and its cluster, or namespace/name")
    .requiredOption("--from <name>", "control plane that was backed up; NAME/UID of one that was deleted")
    .option("--at <time>", "newest backup from then or before, such as 2026-01-02T03:00:00Z (default: the newest)")
    .addOption(managementOptions.namespace())
    .option("--endpoint <host>", "where nodes and users reach it (default: the runtime finds one)")
    .option("--kubernetes-version <version>", "version (default: that of the old one)")
    .addOption(
      new Option("--runtime <kind>", "what runs it (default: that of the old one)").choices([
        "Process",
        "Pods",
      ] as const),
    )
    .option("--service-cidr <cidr>", "network of Services, as in the backup (default: that of the old one)")
    .option("--pod-cidr <cidr>", "network of pods (default: that of the old one)")
    .option("--with-cloud", "with the old one's Secret of its cloud", false)
    .option("--dry-run", "print the objects, and create nothing", false)
    .option("--no-wait", "return as soon as it is created")
    .option("--timeout <seconds>", "longest time to wait", whole(1, 86_400), 900)
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context())
    .addOption(outputOption());
}
