import { Command } from "@commander-js/extra-typings";
import { logLevelOption } from "../../options/logging.ts";
import { whole } from "../../options/numbers.ts";

/** What `causeway apiserver` is given. */
export type ApiServerFlags = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway apiserver`, which `run` does the work of. */
export function apiserverCommand(run: (flags: ApiServerFlags) => Promise<void>) {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway apiserver
  KUBECONFIG=.causeway/kubernetes/admin.kubeconfig kubectl get namespaces
  causeway apiserver --controllers
  causeway apiserver --state /var/lib/kubernetes --port 6443 --log-level info`,
    )
    .action(run);
}

function options() {
  return new Command("apiserver")
    .description("Run the embedded Kubernetes API server alone, until it is stopped.")
    .option("--state <dir>", "state folder: data, keys and certificates, kept across restarts", ".causeway/kubernetes")
    .option("--bind-address <address>", "address to listen on", "127.0.0.1")
    .option("--port <port>", "port (0, the default: a free port, kept in the state folder)", whole(0, 65535))
    .option("--tls-cert-file <file>", "serving certificate, PEM (default: the cluster's authority issues one)")
    .option("--tls-private-key-file <file>", "private key of --tls-cert-file, PEM")
    .option(
      "--tls-authority-file <file>",
      "CA certificates for kubeconfigs to trust, PEM (default: the certificates of --tls-cert-file)",
    )
    .option("--no-kubeconfig", "do not write an administrator's kubeconfig into the state folder")
    .option("--controllers", "run the scheduler and the workload controllers: pods are created and bound to nodes")
    .addOption(logLevelOption());
}
