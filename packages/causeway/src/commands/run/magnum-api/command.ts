import { Command, Option } from "@commander-js/extra-typings";
import { LOG_LEVELS } from "../../../options/logging.ts";
import { whole } from "../../../options/numbers.ts";

/** The flags of `causeway run magnum-api`. */
export type MagnumApiFlags = ReturnType<ReturnType<typeof options>["opts"]>;

/** `causeway run magnum-api`. */
export function magnumApiCommand(signal: AbortSignal) {
  return options()
    .addHelpText(
      "after",
      `
Examples:
  causeway run magnum-api --keystone-url https://identity.example.org/v3 --region RegionOne --kubeconfig management.kubeconfig --tls-cert-file tls.crt --tls-private-key-file tls.key
  causeway run magnum-api --keystone-url https://identity.example.org/v3 --policy-file policy.yaml --public-url https://magnum.example.org`,
    )
    .action(async (given) => (await import("./action.ts")).magnumApi(given, signal));
}

function options() {
  return new Command("magnum-api")
    .description(
      "The Magnum REST API: clusters become Cluster API objects with hosted control planes in a management cluster.",
    )
    .option("--listen <address>", "address and port", "0.0.0.0:9511")
    .requiredOption("--keystone-url <url>", "Keystone v3, as this program and the clusters' controllers reach it")
    .option("--keystone-ca-file <file>", "authority of Keystone's certificate")
    .option("--region <name>", "region that clusters are made in (default: the catalog's only one)")
    .option("--public-url <url>", "what links in responses begin with (default: what the client used)")
    .option(
      "--tls-cert-file <file>",
      "certificate, read again when it changes (default: HTTP, for a proxy before this program)",
    )
    .option("--tls-private-key-file <file>", "its key")
    .option("--kubeconfig <file>", "the management cluster (default: the in-cluster configuration)")
    .option("--policy-file <file>", "rules in YAML that replace Magnum's policies, in oslo.policy's language")
    .option("--audit-file <file>", "audit events (CADF) of clusters, one a line (default: none)")
    .option("--audit-url <url>", "server that takes each audit event as a POST, in place of a file")
    .addOption(
      new Option(
        "--control-plane-runtime <runtime>",
        "of new control planes; Process and Pods serve more versions (default: what their controller chooses)",
      ).choices(["Embedded", "Process", "Pods"] as const),
    )
    .option(
      "--management-cidrs <list>",
      "networks of controllers and of this program; with them clusters may have access lists (labels master_lb_allowed_cidrs), if control planes are Pods",
    )
    .addOption(
      new Option(
        "--pod-network <kind>",
        "addon gives each cluster flannel; routes leaves it out, where routes of the cloud reach the pods",
      )
        .choices(["addon", "routes"] as const)
        .default("addon" as const),
    )
    .option(
      "--csi-image <image>",
      "image of Causeway that nodes can pull: clusters get the node part of the Cinder CSI driver (default: they do not)",
    )
    .option(
      "--trustee-cloud <name>",
      "entry of clouds.yaml with an account that creates a user for each cluster and gives it roles: clusters outlive their creators (default: credentials of the creator)",
    )
    .option("--trustee-domain <domain>", "id or name of the domain of these users, where no others are")
    .option(
      "--trustee-roles <list>",
      "their roles on the cluster's project; without --trustee-cloud those of its creator's that a cluster's credential has, and reader, load-balancer_member and creator where the creator has them",
      "member",
    )
    .option("--default-quota <count>", "clusters of a project without a quota", whole(0, 1_000_000), 20)
    .option("--max-templates <count>", "cluster templates of a project; 0: no limit", whole(0, 1_000_000), 100)
    .option("--max-nodes <count>", "nodes of all clusters of a project; 0: no limit", whole(0, 1_000_000), 1000)
    .option("--kubernetes-version <version>", "version of clusters whose template has no label kube_tag", "v1.34.0")
    .option("--rate <count>", "requests a second of one project", whole(1, 100_000), 50)
    .option(
      "--token-recheck <seconds>",
      "a cached token is checked at Keystone again after this, of all tokens ten a second at most, and each after 60 seconds at the latest, or after this if it is longer",
      whole(1, 86_400),
      5,
    )
    .addOption(
      new Option(
        "--probe-kubelets [when]",
        "clusters are healthy only if their control planes reach a kubelet, by a tunnel or directly, another one each minute. auto: once one was reached; without a value: always",
      )
        .choices(["auto", "always", "never"])
        .default("auto" as const)
        .preset("always" as const),
    )
    .option("--leader-election-namespace <name>", "where the Lease of the controller is", "kube-system")
    .option(
      "--metrics-address <address>",
      "serve /metrics, /livez and /healthz over HTTP on this address (default: not served)",
    )
    .addOption(new Option("--log-level <level>", "what is logged").choices(LOG_LEVELS).default("info" as const));
}
