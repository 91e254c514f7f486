import { Command } from "@commander-js/extra-typings";
import { managementOptions } from "../../clusters/options.ts";
import { whole } from "../../options/numbers.ts";
import { clusterOptions } from "../../options/places.ts";

/** What `causeway rotate authority` is given. */
export type RotateAuthorityOptions = ReturnType<ReturnType<typeof authorityOptions>["opts"]>;

/** What `causeway rotate etcd-authority` is given. */
export type RotateEtcdOptions = ReturnType<ReturnType<typeof etcdOptions>["opts"]>;

/** Replaces what a cluster is trusted by. */
export function rotateCommand(signal: AbortSignal) {
  return new Command("rotate")
    .description("Replace a cluster's certificate authorities in two phases.")
    .addHelpText(
      "after",
      `
Examples:
  causeway rotate authority tenants/web
  causeway rotate authority tenants/web --retire`,
    )
    .addCommand(
      authorityOptions()
        .addHelpText(
          "after",
          `
Without --retire it makes new authorities and a new key of tokens, and waits until both the new and
the old ones are trusted everywhere. Then replace the machines that it names and distribute new
kubeconfigs. With --retire it removes the old ones, and waits until no machine needs them and
nothing trusts them. Interrupted, the rotation continues: the same command follows it again.

It exits with status 0, with 1 after a timeout, with 2 where the cluster has no hosted control
plane or nothing can be retired.

Examples:
  causeway rotate authority web -n tenants
  causeway rotate authority tenants/web --retire --timeout 3600
  causeway rotate authority tenants/web --retire --ignore-machines`,
        )
        .action(async (name, given) => (await import("./action.ts")).rotateAuthority(name, given, signal)),
    )
    .addCommand(
      etcdOptions()
        .addHelpText(
          "after",
          `
Its members and all control planes in it get both authorities, then certificates of the new one,
then the new one alone. It waits for each control plane, and names those that it waits for; one
whose spec is refused can be given up with --without: it loses its etcd until it is repaired.
Interrupted, the rotation continues: the same command follows it again.

It exits with status 0, with 1 after a timeout, with 2 where there is no such etcd.

Examples:
  causeway rotate etcd-authority --context service-cluster
  causeway rotate etcd-authority --without hcp-web-0123456789 --timeout 3600`,
        )
        .action(async (given) => (await import("./etcd-action.ts")).rotateEtcdAuthority(given, signal)),
    );
}

function etcdOptions() {
  return new Command("etcd-authority")
    .description("The authority of the etcd that control planes as pods share, in their service cluster.")
    .option("--owner <id>", "management cluster that it belongs to, where several have one")
    .option("--without <namespace...>", "namespaces of control planes that it does not wait for")
    .option("--no-wait", "return as soon as it is requested")
    .option("--timeout <seconds>", "longest time to wait", whole(1, 86_400), 1_800)
    .addOption(clusterOptions.kubeconfig("of the service cluster (default: as for the management cluster)"))
    .addOption(managementOptions.context());
}

function authorityOptions() {
  return new Command("authority")
    .description("The cluster's authority, its key of service-account tokens, and the authority of its front proxy.")
    .argument("<name>", "name of the cluster, or namespace/name")
    .addOption(managementOptions.namespace())
    .option("--retire", "the second phase: remove trust in the old ones", false)
    .option("--ignore-machines", "with --retire: ignore machines that know only the old authority", false)
    .option("--no-wait", "return as soon as it is requested")
    .option("--timeout <seconds>", "longest time to wait", whole(1, 86_400), 900)
    .addOption(managementOptions.kubeconfig())
    .addOption(managementOptions.context());
}
