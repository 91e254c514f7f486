import { InputError } from "@causeway/foundation";
import { Command, Option } from "@commander-js/extra-typings";
import { backupStoreOptions } from "../../backups/options.ts";
import { logLevelOption } from "../../options/logging.ts";
import { cidrs } from "../../options/networks.ts";
import { whole } from "../../options/numbers.ts";
import { outputOption } from "../../options/output.ts";
import { cloudOptions } from "../../options/places.ts";

/** What `causeway up` is given. */
export type UpOptions = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway up`. */
export function upCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway up --demo                          a managed cluster on a simulated cloud, with nothing installed
  causeway up --demo --cloud devcloud         the same on a real OpenStack
  causeway up --demo --exit-when-ready        for scripts: ends when the cluster is ready
  causeway up --demo --runtime process --programs ~/.cache/causeway/kubernetes
  causeway up --runtime process --programs DIR --backup-cloud production --backup-key-file backup.key
  causeway up --exit-when-ready -o json | jq -r .kubeconfigs.workload
  causeway up --state /var/lib/causeway --port 6443 --cloud prod`,
    )
    .action(async (given, command) => {
      const unused = ["output", "replicas", "flavor", "image"].find(
        (name) => !given.demo && command.getOptionValueSource(name) === "cli",
      );
      if (unused !== undefined) throw without(unused, "--demo");
      if (!given.exitWhenReady && command.getOptionValueSource("timeout") === "cli")
        throw without("timeout", "--exit-when-ready");
      await (await import("./action.ts")).up(given, signal);
    });
}

/** Options that would be ignored. */
function without(option: string, needed: string): InputError {
  return new InputError("FLAG_INVALID", `--${option} is for ${needed}, which is not given.`, {
    hint: `Give ${needed}, too, or leave --${option} out.`,
  });
}

function options() {
  return new Command("up")
    .description(
      "Run the embedded API server and every controller in this process, on a simulated cloud or on a real one.",
    )
    .addOption(
      cloudOptions.cloud(
        "entry of clouds.yaml to run on, or envvars for the variables of an openrc file (default: a simulated cloud inside this process, whatever OS_CLOUD says)",
      ),
    )
    .addOption(cloudOptions.insecure())
    .addOption(cloudOptions.cacert())
    .option("--state <dir>", "state folder: data, keys and certificates, kept across restarts", ".causeway")
    .option("--demo", "create the sample cluster `demo` and show its progress", false)
    .addOption(
      new Option("--exit-when-ready", "exit with status 0 when the demo is ready, non-zero when it fails")
        .default(false)
        .implies({ demo: true }),
    )
    .option("--timeout <seconds>", "with --exit-when-ready: exit with an error after this time", whole(1, 86_400), 900)
    .option(
      "--port <port>",
      "port of the management API (0, the default: a free port, kept in the state folder)",
      whole(0, 65535),
    )
    .option(
      "--advertise-address <address>",
      "address at which machines reach this host (default: found by a connection to the cloud)",
    )
    .option(
      "--node-networks <cidrs>",
      "networks of nodes, from whose kubelets logs, exec and port-forward are requested",
      cidrs,
    )
    .option(
      "--oidc-networks <cidrs>",
      "networks of the OIDC issuers that control planes may name (default: they may name none)",
      cidrs,
    )
    .option(
      "--audit-networks <cidrs>",
      "networks of the sinks of audit events that control planes may name (default: they may name none)",
      cidrs,
    )
    .option(
      "--tunnel-sockets <dir>",
      "folder of a tunnel's sockets, NAMESPACE.NAME.sock, that kubelets are reached through",
    )
    .addOption(
      new Option(
        "--runtime <kind>",
        "default runtime of hosted control planes: the embedded API server, or processes of Kubernetes' own programs",
      )
        .choices(["embedded", "process"] as const)
        .default("embedded" as const),
    )
    .option(
      "--programs <dir>",
      "folder with etcd, kube-apiserver, kube-controller-manager and kube-scheduler as VERSION/PROGRAM, or downloads.json that names them, for runtime Process",
    )
    .addOption(backupStoreOptions.cloud())
    .addOption(backupStoreOptions.s3Endpoint())
    .addOption(backupStoreOptions.s3Region())
    .addOption(backupStoreOptions.s3Keys())
    .addOption(backupStoreOptions.container())
    .addOption(backupStoreOptions.keyFile())
    .addOption(
      new Option(
        "--csi-image <name>",
        "image of Causeway that nodes can pull: installs the Cinder CSI node plugin in each workload cluster (default: none; simulated nodes simulate it)",
      ).conflicts("volumes"),
    )
    .option("--replicas <count>", "with --demo: workers of a new cluster (default: 3)", whole(1, 1000))
    .option("--flavor <name>", "with --demo: flavor of the workers", "m1.small")
    .option("--image <name>", "with --demo: image of the workers", "cirros")
    .addOption(
      new Option("--delays <kind>", "provisioning delays of the simulated cloud")
        .choices(["instant", "real"] as const)
        .default("instant" as const),
    )
    .option(
      "--confirm-restore",
      "the restored state was compared with the cloud: deletions are made again once it has started; for one start, not for a unit file",
      false,
    )
    .option("--no-volumes", "leave the Cinder volumes of all clusters to drivers that run in them")
    .option("--data-path", "serve the listeners of the simulated cloud's load balancers on loopback", false)
    .addOption(outputOption("with --demo: output format"))
    .addOption(logLevelOption());
}
