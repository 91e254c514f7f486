import { Command, Option } from "@commander-js/extra-typings";
import { LOG_LEVELS } from "../../../options/logging.ts";

/** The flags of `causeway run keystone-auth`. */
export type KeystoneAuthFlags = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway run keystone-auth`. */
export function keystoneAuthCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway run keystone-auth --keystone-url https://identity.example.org/v3 --tls-cert-file tls.crt --tls-private-key-file tls.key
  causeway run keystone-auth --keystone-policy-file policy.json --sync-config-file sync.yaml --kubeconfig admin.conf`,
    )
    .action(async (given) => (await import("./action.ts")).keystoneAuth(given, signal));
}

/** A list by commas; a repeated flag adds to it. */
function names(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(",").map((name) => name.trim())];
}

function options() {
  return new Command("keystone-auth")
    .description(
      "Webhook that authenticates and authorizes by Keystone, in place of k8s-keystone-auth and with its flags.",
    )
    .option("--listen <address>", "address and port (default: 0.0.0.0:8443)")
    .option("--tls-cert-file <file>", "certificate (TLS_CERT_FILE)")
    .option("--tls-private-key-file <file>", "its key (TLS_PRIVATE_KEY_FILE)")
    .option("--keystone-url <url>", "Keystone v3 (OS_AUTH_URL)")
    .option("--keystone-ca-file <file>", "authority of Keystone's certificate (KEYSTONE_CA_FILE)")
    .option("--keystone-policy-file <file>", "authorization policy; overrides the ConfigMap (KEYSTONE_POLICY_FILE)")
    .option("--policy-configmap-name <name>", "ConfigMap of kube-system, key policies (KEYSTONE_POLICY_CONFIGMAP_NAME)")
    .option("--sync-config-file <file>", "what is synchronised; overrides the ConfigMap (KEYSTONE_SYNC_CONFIG_FILE)")
    .option("--sync-configmap-name <name>", "ConfigMap of kube-system, key syncConfig (KEYSTONE_SYNC_CONFIGMAP_NAME)")
    .option(
      "--kubeconfig <file>",
      "kubeconfig of the cluster (KEYSTONE_KUBECONFIG_FILE; default: the in-cluster configuration)",
    )
    .option("--client-ca-file <file>", "only clients with a certificate of this authority may send reviews")
    .option("--allowed-projects <ids>", "ids of projects, by commas: tokens of others are refused", names)
    .option(
      "--allowed-domains <domains>",
      "ids or names of domains, by commas: tokens of users or projects of others are refused",
      names,
    )
    .option("--token-recheck <duration>", "a cached token is checked again after this (default: 60s)")
    .option("--keystone-outage <duration>", "cached tokens remain valid so long while Keystone is away (default: 10m)")
    .option("--keystone-rate <number>", "requests to Keystone a second (default: 20)")
    .option(
      "--user-agent <text>",
      "added to the User-Agent of requests to Keystone; may be repeated",
      (text: string, before?: readonly string[]): readonly string[] => [...(before ?? []), text],
    )
    .option("-v, --v <level>", "log verbosity: 0 for warnings, 1 to 3 for changes, 4 or more for every review", "1")
    .addOption(new Option("--log-level <level>", "in place of -v").choices(LOG_LEVELS));
}
