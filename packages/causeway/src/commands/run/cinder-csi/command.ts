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

/** Deprecated flags of cinder-csi-plugin, which upstream ignores, too. */
const deprecated = ["nodeid", "node-service-no-os-client"];

/** `causeway run cinder-csi`. */
export function cinderCsiCommand(signal: AbortSignal) {
  const command = options();
  for (const name of [...deprecated, ...WITHOUT_EFFECT]) command.addOption(hidden(name));
  return command
    .addHelpText(
      "after",
      `
Examples:
  causeway run cinder-csi --controller --endpoint unix:///csi/csi.sock --cloud-config /etc/config/cloud.conf --cluster prod
  causeway run cinder-csi --node --endpoint unix:///csi/csi.sock --kubelet-registration-path /var/lib/kubelet/plugins/cinder.csi.openstack.org/csi.sock`,
    )
    .action(async (flags) => (await import("./action.ts")).runCinderCsi(flags, signal));
}

function options() {
  return new Command("cinder-csi")
    .description(
      "Cinder volumes: the CSI driver cinder.csi.openstack.org, in place of cinder-csi-plugin and with its flags.",
    )
    .requiredOption("--endpoint <address>", "where the driver listens: unix:///csi/csi.sock or tcp://host:port")
    .option(
      "--cloud-config <file>",
      "cloud.conf; may be repeated, later files have priority. The controller needs it",
      many,
    )
    .option("--cloud-name <name>", 'a section [Global "NAME"] of cloud.conf; may be repeated', many)
    .option("--controller", "serve the controller service only")
    .option("--node", "serve the node service only")
    .addOption(switchOption("provide-controller-service", "serve the controller service", "true"))
    .addOption(switchOption("provide-node-service", "serve the node service", "true"))
    .addOption(switchOption("with-topology", "use zones as the topology of volumes and nodes", "true"))
    .option("--additional-topology <key=value>", "a further topology segment of this node; may be repeated", many)
    .option("--cluster <name>", "recorded in the metadata of volumes and snapshots", "")
    .addOption(kubeletRegistrationPath())
    .addOption(pluginRegistrationPath())
    .option("--http-endpoint <address>", "host:port of /metrics and /healthz, without TLS")
    .addOption(switchOption("pvc-annotations", "read affinity annotations of PersistentVolumeClaims", "false"))
    .option(
      "--kubeconfig <file>",
      "kubeconfig of the cluster for --pvc-annotations (default: the in-cluster configuration)",
    )
    .option("--master <url>", "address of the API server, in place of the kubeconfig's")
    .option("--user-agent <text>", "added to the User-Agent of requests to the cloud; may be repeated", many)
    .option("-v, --v <level>", "log verbosity: 0 for warnings, 1 to 3 for changes, 4 or more for every call", "1")
    .addOption(new Option("--log-level <level>", "in place of -v").choices(LOG_LEVELS));
}
