import { Command, Option } from "@commander-js/extra-typings";
import { LOG_LEVELS } from "../../../options/logging.ts";
import {
  hidden,
  kubeletRegistrationPath,
  many,
  pluginRegistrationPath,
  switchOption,
  WITHOUT_EFFECT,
} from "../csi/flags.ts";

/** The flags as they are on the command line. */
export type RawFlags = ReturnType<ReturnType<typeof options>["opts"]>;

/** Flags of manila-csi-plugin that upstream ignores, too. */
const deprecated = ["nodeid", "nodeaz", "compatibility-settings"];

/** `causeway run manila-csi`. */
export function manilaCsiCommand(signal: AbortSignal) {
  const command = options();
  for (const name of [...deprecated, ...WITHOUT_EFFECT]) command.addOption(hidden(name));
  return command
    .addHelpText(
      "after",
      `
Examples:
  causeway run manila-csi --controller --endpoint unix:///csi/csi.sock --share-protocol-selector NFS --cluster-id prod
  causeway run manila-csi --node --endpoint unix:///csi/csi.sock --share-protocol-selector NFS --fwdendpoint unix:///csi-nfs/csi.sock`,
    )
    .action(async (flags) => (await import("./action.ts")).runManilaCsi(flags, signal));
}

function options() {
  return new Command("manila-csi")
    .description(
      "Manila shares: the CSI driver manila.csi.openstack.org, in place of manila-csi-plugin and with its flags.",
    )
    .option(
      "--endpoint <address>",
      "where the driver listens: unix:///csi/csi.sock or tcp://host:port",
      "unix:///tmp/csi.sock",
    )
    .requiredOption("--share-protocol-selector <protocol>", "protocol of the shares: NFS or CEPHFS")
    .option(
      "--fwdendpoint <address>",
      "socket of the protocol's own CSI driver on this node; the node service needs it",
    )
    .option("--drivername <name>", "name of the driver", "manila.csi.openstack.org")
    .option("--controller", "serve the controller service only")
    .option("--node", "serve the node service only")
    .addOption(switchOption("provide-controller-service", "serve the controller service", "true"))
    .addOption(switchOption("provide-node-service", "serve the node service", "true"))
    .addOption(switchOption("with-topology", "use zones as the topology of shares and nodes", "false"))
    .option("--runtime-config-file <file>", "JSON that is read at each use; may be missing")
    .option("--cluster-id <name>", "recorded in the metadata of shares", "")
    .addOption(kubeletRegistrationPath())
    .addOption(pluginRegistrationPath())
    .option("--http-endpoint <address>", "host:port of /metrics and /healthz, without TLS")
    .addOption(switchOption("pvc-annotations", "read annotations of PersistentVolumeClaims: affinity, group", "false"))
    .option(
      "--kubeconfig <file>",
      "kubeconfig of the cluster for --pvc-annotations (default: the in-cluster configuration)",
    )
    .option("--master <url>", "address of the API server, in place of the kubeconfig's")
    .option("--user-agent <text>", "added to the User-Agent of requests to the cloud; may be repeated", many)
    .option("-v, --v <level>", "log verbosity: 0 for warnings, 1 to 3 for changes, 4 or more for every call", "1")
    .addOption(new Option("--log-level <level>", "in place of -v").choices(LOG_LEVELS));
}
