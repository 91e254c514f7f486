import { Command, Option } from "@commander-js/extra-typings";
import { SHARDS_HELP } from "../serving/shared-work-help.ts";
import { backupStoreOptions } from "../../../backups/options.ts";
import { LOG_LEVELS } from "../../../options/logging.ts";

/** The flags of `causeway run hosted-control-plane`. */
export type HostedControlPlaneFlags = ReturnType<ReturnType<typeof hostedControlPlaneOptions>["opts"]>;

/** The command with its options. */
export function hostedControlPlaneOptions() {
  return new Command("hosted-control-plane")
    .description("Control planes of workload clusters as pods of a service cluster, from HostedControlPlane objects.")
    .option("--kubeconfig <file>", "the management cluster (default: the in-cluster configuration)")
    .option(
      "--service-kubeconfig <namespace/name>",
      "Secret of the management cluster with the service cluster's kubeconfig in key value",
    )
    .option(
      "--owner <name>",
      "which management cluster this is; part of the names of namespaces, and never changed (default: the uid of its namespace kube-system)",
    )
    .option("--registry <prefix>", "where the images of Kubernetes are", "registry.k8s.io")
    .option("--causeway-image <image>", "image of cloud controller managers; without it a cloud is refused")
    .option("--versions <list>", 'more minor versions, or other tags of etcd, with commas: "v1.35=3.6.6-0"')
    .option("--cluster-domain <domain>", "of the service cluster's DNS", "cluster.local")
    .addOption(
      new Option("--pool-members <number>", "members of the etcd that control planes share, kept as at the beginning")
        .choices(["1", "3"] as const)
        .default("3" as const),
    )
    .option("--pool-storage <size>", "size of each member's volume", "8Gi")
    .option("--pool-storage-class <name>", "StorageClass of the volumes (default: the service cluster's default)")
    .option("--datastore-moves", "control planes may move from the shared etcd to their own (preview)", false)
    .addOption(
      new Option("--max-size <size>", "largest spec.pods.size that is accepted").choices([
        "Small",
        "Medium",
        "Large",
      ] as const),
    )
    .option("--max-replicas <number>", "API servers that a control plane may have")
    .option("--max-storage <size>", "size that each volume of an etcd of its own may have")
    .option("--storage-classes <names>", "StorageClasses that a control plane may name, with commas")
    .option("--max-control-planes <number>", "control planes that a namespace of the management cluster may have")
    .option("--max-namespace-storage <size>", "sum of the volumes of a namespace's control planes")
    .option("--node-networks <cidrs>", "networks of nodes that API servers connect to without a tunnel")
    .option(
      "--oidc-networks <cidrs>",
      "networks of the OIDC issuers that control planes may name, which API servers connect to (default: they may name none)",
    )
    .option(
      "--audit-networks <cidrs>",
      "networks of the sinks of audit events that control planes may name, which API servers connect to (default: they may name none)",
    )
    .option("--cloud-networks <cidrs>", "networks of the cloud's APIs, for cloud controller managers (default: any)")
    .option("--tunnel-url <url>", "https URL of causeway run tunnel-server's port for API servers")
    .option("--tunnel-ca-file <file>", "authority of its certificate")
    .option("--tunnel-namespace <namespace>", "where its pods are", "causeway-system")
    .addOption(
      new Option("--audit-log <where>", "where API servers write audit events, in addition to --audit-webhook-url")
        .choices(["stdout", "file", "none"] as const)
        .default("stdout" as const),
    )
    .option(
      "--audit-webhook-url <url>",
      "https URL that receives audit events of each control plane at /NAMESPACE/NAME below it, in batches",
    )
    .option("--audit-webhook-ca-file <file>", "authority of its certificate")
    .option(
      "--audit-webhook-token-file <file>",
      "bearer token that the webhook requires, since tenants can reach it, too",
    )
    .option("--audit-webhook-namespace <namespace>", "where its pods are")
    .option("--audit-webhook-pod-port <port>", "port of its pods, for network policies (default: that of the URL)")
    .option(
      "--gateway-domain <domain>",
      "names below it lead to causeway run api-gateway; with it control planes may have spec.pods.exposure Gateway",
    )
    .option("--gateway-port <port>", "the gateway's port, never changed", "6443")
    .option(
      "--gateway-address <address>",
      "the gateway's address in kubeconfigs, for users whose DNS does not know the domain (default: the control plane's name)",
    )
    .option("--gateway-namespace <namespace>", "where the gateway's pods are", "causeway-system")
    .option("--gateway-node-address <address>", "at which nodes of tenants have causeway run api-proxy", "198.18.0.1")
    .addOption(backupStoreOptions.cloud())
    .addOption(backupStoreOptions.s3Endpoint())
    .addOption(backupStoreOptions.s3Region())
    .addOption(backupStoreOptions.s3Secret())
    .addOption(backupStoreOptions.container())
    .addOption(backupStoreOptions.keyFile())
    .addOption(
      new Option("--leader-elect [boolean]", "take part in the leader election, and work only as the leader")
        .choices(["true", "false"] as const)
        .preset("true")
        .default("true"),
    )
    .option(
      "--leader-elect-namespace <namespace>",
      "where the Lease is, and this program's pods in the service cluster",
      "causeway-system",
    )
    .option("--shards <number>", SHARDS_HELP)
    .option(
      "--metrics-address <address:port>",
      "serve /healthz and /metrics over HTTP on this address (default: not served)",
    )
    .option("--print-crds", "print the CRD and exit", false)
    .addOption(new Option("--log-level <level>", "minimum log level").choices(LOG_LEVELS).default("info" as const));
}
