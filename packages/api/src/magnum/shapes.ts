import { anyText, flag, int32, list, mapOf, object, oneOf, optional, text } from "../schema/fields.ts";

/** The states of a cluster and of a node group that Magnum's clients know and that clusters here can be in. */
export const magnumStatuses = [
  "CREATE_IN_PROGRESS",
  "CREATE_FAILED",
  "CREATE_COMPLETE",
  "UPDATE_IN_PROGRESS",
  "UPDATE_FAILED",
  "UPDATE_COMPLETE",
  "DELETE_IN_PROGRESS",
  "DELETE_FAILED",
] as const;
/** A status of a cluster, such as CREATE_IN_PROGRESS. */
export type MagnumStatus = (typeof magnumStatuses)[number];

/** A field that has one of those states. */
export const magnumStatus = (description: string) => oneOf(magnumStatuses, { description });

/** Labels of Magnum: settings by name. */
export const magnumLabels = (description: string) => optional(mapOf(anyText(), { description }));

const name = (description: string) => optional(text(1, 255, { description }));
const no = (description: string) => flag({ default: false, description });

/** What a cluster template says, under the names of Magnum's API in Kubernetes' spelling. */
export const templateAttributes = {
  coe: oneOf(["kubernetes"], { default: "kubernetes", description: "The orchestrator." }),
  imageID: text(1, 255, { description: "Name or id of the image of the nodes." }),
  flavorID: name("Name or id of the flavor of the workers."),
  masterFlavorID: name(
    "Name or id of the masters' flavor. Hosted control planes have no machines; it is only returned.",
  ),
  dnsNameserver: optional(text(1, 1024, { description: "Name servers of the nodes' subnet, separated by commas." })),
  keypairID: name("Name of the key pair of the nodes."),
  externalNetworkID: name("Name or id of the network outside."),
  fixedNetwork: name("Name or id of a network that exists, in place of one made for each cluster."),
  fixedSubnet: name("Name or id of a subnet of it."),
  networkDriver: name("Network of the pods."),
  apiserverPort: optional(int32({ minimum: 1024, maximum: 65535, description: "Port of the API." })),
  dockerVolumeSize: optional(int32({ minimum: 1, description: "GiB of an additional disk of each node." })),
  clusterDistro: name("Operating system of the image."),
  httpProxy: name("Proxy of the nodes for HTTP."),
  httpsProxy: name("Proxy of the nodes for HTTPS."),
  noProxy: name("What is reached without the proxy."),
  volumeDriver: name("Storage of the cluster's volumes."),
  registryEnabled: no("A registry in the cluster. It is only returned."),
  labels: magnumLabels("Settings of the clusters."),
  tlsDisabled: no("True: no cluster can be made from the template, since each API is served with TLS."),
  public: no("True: every project sees it."),
  serverType: oneOf(["vm", "bm"], { default: "vm", description: "Virtual machines or bare metal." }),
  insecureRegistry: name("A registry without TLS, or with any certificate, from which nodes pull."),
  dockerStorageDriver: name("It is only returned."),
  masterLBEnabled: no("A load balancer before the masters. It is only returned."),
  floatingIPEnabled: flag({ default: true, description: "Floating IPs. It is only returned." }),
  hidden: no("True: only administrators list it."),
  tags: optional(text(0, 255, { description: "Words, separated by commas." })),
  driver: name("Name of the driver."),
};

/** Taints that the nodes of a group are given, as core/v1 Taint. */
export const nodeTaints = (description: string) =>
  optional(
    list(
      object({
        key: text(1, 317, { description: "Name of the taint." }),
        value: optional(text(0, 63, { description: "Its value." })),
        effect: oneOf(["NoSchedule", "PreferNoSchedule", "NoExecute"], { description: "What it does to pods." }),
      }),
      { max: 64, description },
    ),
  );
