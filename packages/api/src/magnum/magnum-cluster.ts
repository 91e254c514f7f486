import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { defineKind } from "../schema/define.ts";
import { anyText, conditions, flag, instant, int32, int64, list, listByKey, mapOf } from "../schema/fields.ts";
import { object, oneOf, optional, setOf, text } from "../schema/fields.ts";
import { magnumTemplate } from "./magnum-cluster-template.ts";
import { magnumLabels, magnumStatus, nodeTaints } from "./shapes.ts";

const nodeGroup = object({
  uuid: text(36, 36, { description: "The id that clients use." }),
  name: text(1, 255, { description: "Name, unique in the cluster." }),
  role: text(1, 255, { description: '"worker", or a name of the user\'s own.' }),
  isDefault: flag({ default: false, description: "True for default-worker, which cannot be deleted alone." }),
  flavorID: optional(text(1, 255, { description: "Name or id of the flavor of its nodes." })),
  imageID: text(1, 255, { description: "Name or id of the image of its nodes." }),
  nodeCount: int32({ minimum: 0, description: "How many nodes there are to be." }),
  resizedAt: optional(
    instant({ description: "When nodeCount was requested last: where an autoscaler decides, it is made so once." }),
  ),
  minNodeCount: int32({ minimum: 0, default: 0, description: "Fewest nodes that a resize may ask for." }),
  maxNodeCount: optional(int32({ minimum: 0, description: "Most nodes that a resize may ask for." })),
  dockerVolumeSize: optional(int32({ minimum: 1, description: "GiB of an additional disk of each node." })),
  labels: magnumLabels("Settings of its nodes."),
  nodeLabels: optional(mapOf(anyText(), { description: "Labels of its Nodes." })),
  joinLabels: optional(
    mapOf(anyText(), {
      description:
        "Labels that its Nodes join with, where nodeLabels were changed since: Nodes get those once they have joined. Default: nodeLabels.",
    }),
  ),
  nodeTaints: nodeTaints("Taints of its Nodes."),
  version: text(1, 64, { description: 'Kubernetes version of its nodes, such as "v1.34.0".' }),
  maxBatchSize: optional(int32({ minimum: 1, description: "Nodes that are replaced at once in an upgrade." })),
  nodesToRemove: optional(
    list(text(1, 255), { max: 1000, description: "Servers or Machines that go first when the group becomes smaller." }),
  ),
  createdAt: instant({ description: "When it was created." }),
  updatedAt: optional(instant({ description: "When it was changed last." })),
  deletedAt: optional(
    instant({ description: "When its deletion was requested: it is listed until its nodes are gone." }),
  ),
});
/** A group of nodes of one flavor and image. */
export type MagnumNodeGroup = Static<typeof nodeGroup>;

const magnumClusterSpec = object({
  uuid: text(36, 36, { description: "The id that clients use." }),
  name: text(1, 242, { description: "Name. Clusters may share one; then clients have to use the id." }),
  projectID: text(1, 255, { description: "The project that owns it." }),
  userID: text(1, 255, { description: "The user who created it." }),
  updatedAt: optional(instant({ description: "When it was changed last." })),
  templateUUID: text(36, 36, { description: "The template that it was made from." }),
  template: magnumTemplate,
  version: text(1, 64, { description: 'Kubernetes version of the control plane, such as "v1.34.0".' }),
  keypair: optional(text(1, 255, { description: "Name of the key pair of the nodes." })),
  masterCount: int32({
    minimum: 1,
    default: 1,
    description: "API servers, where the control plane's runtime runs more than one: Pods. Others run one.",
  }),
  rotateAuthoritiesAfter: optional(
    instant({ description: "The certificate authority that is older is rotated, and all nodes are replaced for it." }),
  ),
  masterUUID: text(36, 36, { description: "The id of the node group default-master." }),
  masterFlavorID: optional(
    text(1, 255, { description: "It is only returned: hosted control planes have no machines." }),
  ),
  flavorID: optional(text(1, 255, { description: "Name or id of the flavor of the workers." })),
  dockerVolumeSize: optional(int32({ minimum: 1, description: "GiB of an additional disk of each node." })),
  labels: magnumLabels("Settings of the cluster."),
  addons: optional(
    oneOf(["Managed", "Own", "KubeProxy"], {
      description:
        "Managed: Causeway installs kube-proxy, DNS and the network of pods, and keeps them. Own: the cluster has its own, as one that is being migrated has. KubeProxy: it has its own but for kube-proxy, which Causeway installs on the nodes that it makes, as in those that were migrated. Default: Managed without the network of pods, for clusters that were made without it.",
    }),
  ),
  nodeProxies: optional(
    flag({
      description:
        "True: nodes pull images through the template's proxies. Clusters from before it do not; set to true, it replaces their nodes.",
    }),
  ),
  nodeRegistry: optional(
    flag({
      description:
        "True: nodes pull from the template's insecure registry. Clusters from before it do not; set to true, it replaces their nodes.",
    }),
  ),
  driverDefaults: optional(
    flag({
      description:
        "True: labels that are not set mean what they mean in Magnum's Heat driver, as in a cluster that is migrated from it: keystone_auth_enabled and octavia_lb_healthcheck are true. Default: false.",
    }),
  ),
  kubeletSources: optional(
    setOf(text(1, 64), {
      max: 20,
      description:
        "Networks, in CIDR notation, from which the control plane connects to kubelets without a tunnel: nodes accept connections to port 10250 from them. The migration from Heat sets it.",
    }),
  ),
  createTimeout: int32({
    minimum: 0,
    default: 60,
    description: "Minutes until creation counts as failed; 0 is never.",
  }),
  discoveryURL: optional(text(0, 1024, { description: "It is only returned." })),
  fixedNetwork: optional(text(1, 255, { description: "Name or id of a network that exists." })),
  fixedSubnet: optional(text(1, 255, { description: "Name or id of a subnet of it." })),
  floatingIPEnabled: flag({ default: true, description: "It is only returned." }),
  masterLBEnabled: flag({
    default: false,
    description: "More than one master needs it, as in Magnum. The API is at one address either way.",
  }),
  reportedHealth: optional(
    object(
      {
        status: optional(oneOf(["HEALTHY", "UNHEALTHY", "UNKNOWN"], { description: "The verdict." })),
        reason: optional(mapOf(anyText(), { description: "What was found, by name." })),
      },
      {
        description:
          "What a program outside reported to an earlier release. Later reports are in an annotation: they are no change of the cluster.",
      },
    ),
  ),
  nodeGroups: listByKey(nodeGroup, ["uuid"], { max: 100, description: "The groups of workers." }),
});

const groupStatus = object({
  uuid: text(36, 36, { description: "The node group." }),
  status: magnumStatus("Its state."),
  reason: optional(text(0, 4096, { description: "Why, in words." })),
  readyNodes: int32({ minimum: 0, description: "Nodes that are ready." }),
  nodeCount: optional(int32({ minimum: 0, description: "Nodes that the autoscaler wants, where it decides." })),
  addresses: list(text(1, 256), { max: 1000, description: "Addresses of its nodes." }),
  version: optional(text(1, 64, { description: "Version that all its nodes have." })),
});

const magnumClusterStatus = object({
  conditions: conditions(),
  observedGeneration: optional(int64({ minimum: 0, description: "The generation that the status is about." })),
  status: magnumStatus("The state that clients see."),
  reason: optional(text(0, 4096, { description: "Why, in words, with the code of the first cause." })),
  code: optional(text(0, 128, { description: "The code of the first cause." })),
  created: optional(flag({ description: "True once the cluster was complete." })),
  addonsFailed: optional(
    flag({
      description:
        "True: add-ons did not work when the change in progress, or the next one, began. It does not wait for them: a user may need it to cure the cause.",
    }),
  ),
  kubeletReached: optional(
    flag({
      description:
        "True: a health probe has reached a kubelet through the control plane. From then on, one that it does not reach makes the cluster UNHEALTHY.",
    }),
  ),
  changingSince: optional(instant({ description: "When the change that is in progress was first seen." })),
  progress: optional(
    object(
      {
        stage: optional(int32({ minimum: 0, description: "The latest stage of it." })),
        remaining: optional(int32({ minimum: 0, description: "The fewest nodes that remained in that stage." })),
        at: instant({ description: "When that was first seen: its time to fail counts from then on." }),
      },
      { description: "The best that was seen of the change in progress." },
    ),
  ),
  health: optional(oneOf(["HEALTHY", "UNHEALTHY", "UNKNOWN"], { description: "The verdict of our own probes." })),
  healthReason: optional(mapOf(anyText(), { description: "What the probes found, by name." })),
  apiAddress: optional(text(1, 1024, { description: "URL of the API." })),
  coeVersion: optional(text(1, 64, { description: "Version that the API server runs." })),
  containerVersion: optional(text(1, 64, { description: "Version of the nodes' container runtime." })),
  masterAddresses: optional(list(text(1, 512), { max: 10, description: "Addresses of the API." })),
  masterReady: optional(flag({ description: "True while the control plane is available." })),
  masters: optional(
    object(
      { status: magnumStatus("Its state."), reason: optional(text(0, 4096, { description: "Why, in words." })) },
      { description: "The state of the node group default-master." },
    ),
  ),
  nodeGroups: optional(listByKey(groupStatus, ["uuid"], { max: 100, description: "The state of each node group." })),
});

/** A cluster of the Magnum API, with its template's attributes as they were when it was created. */
export type MagnumClusterSpec = Static<typeof magnumClusterSpec>;
/** What the Magnum API reports of a cluster. */
export type MagnumClusterStatus = Static<typeof magnumClusterStatus>;
/** A cluster of the Magnum API. */
export type MagnumCluster = Resource<MagnumClusterSpec, MagnumClusterStatus>;

/** Its kind, for clients and for the CRD: `mcl`, v1alpha1. */
export const MagnumCluster: Kind<MagnumCluster> = defineKind({
  group: "magnum.causeway.dev",
  version: "v1alpha1",
  kind: "MagnumCluster",
  description:
    "A cluster of the Magnum API. It is made of a Cluster with a hosted control plane and one MachineDeployment for each node group, all of them by its name.",
  shortNames: ["mcl"],
  columns: [
    column("Name", ".spec.name"),
    column("UUID", ".spec.uuid"),
    column("Status", ".status.status"),
    column("Health", ".status.health"),
    column("Version", ".spec.version"),
    age,
  ],
  spec: magnumClusterSpec,
  status: magnumClusterStatus,
});
