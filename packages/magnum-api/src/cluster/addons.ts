import {
  AddonSet,
  annotations,
  labels,
  manifest,
  type AddonSetSpec,
  type Cluster,
  type MagnumCluster,
  type Manifest,
} from "@causeway/api";
import { ownerReference } from "@causeway/kubernetes";
import type { AddonChoice } from "./addon-labels.ts";
import { labelSettings } from "./labels.ts";
import { kubeProxyLabel, magnumLabels, migratingAnnotation } from "./names.ts";

type Addon = AddonSetSpec["addons"][number];

/** What an installation says about the add-ons of all clusters. */
export interface AddonInstallation {
  /** Who makes the network of pods: an add-on of the cluster, which is the default, or routes of the cloud. */
  readonly podNetwork?: "addon" | "routes" | undefined;
  /** Image of Causeway with the node part of the Cinder CSI driver; undefined: clusters do not get it. */
  readonly csiImage?: string | undefined;
}

/** The AddonSet of a cluster: its namespace has those of others, too. */
export const addonSetNameOf = (cluster: string): string => `${cluster}-addons`;

/** Why the add-ons of a cluster are not all those of a new one; undefined: they are. */
function limitOf({ metadata, spec }: MagnumCluster, cluster: Cluster | undefined): "Own" | "NoNetwork" | undefined {
  if (spec.addons === "Managed") return undefined;
  if (spec.addons === "KubeProxy") return "Own";
  const isMigrated =
    metadata.annotations?.[migratingAnnotation] !== undefined ||
    cluster?.metadata.annotations?.[annotations.cloudClusterName] !== undefined;
  // The nodes of a cluster that was made without a network add-on are ready: their pods have a network already.
  return spec.addons === "Own" || isMigrated ? "Own" : "NoNetwork";
}

/** Which add-ons a cluster gets, by the words of label causeway_addons. */
function chosenFor(
  object: MagnumCluster,
  { podNetwork }: AddonInstallation,
  cluster: Cluster | undefined,
): readonly AddonChoice[] {
  const limit = limitOf(object, cluster);
  if (limit === "Own") return [];
  const { chosen } = labelSettings(object.spec.labels ?? {}).addons;
  return chosen.filter((each) => each !== "network" || (limit === undefined && podNetwork !== "routes"));
}

/** Users of a cluster may add zones to its DNS, and run more of it. */
const mayChange: NonNullable<Addon["mayChange"]> = [
  { kind: "ConfigMap", name: "coredns", field: "data.Corefile" },
  { kind: "Deployment", name: "coredns", field: "spec.replicas" },
];

/** The add-ons of a cluster, in the order in which one needs the other. */
export function addonsFor(
  object: MagnumCluster,
  installation: AddonInstallation,
  cluster: Cluster | undefined,
): readonly Addon[] {
  if (object.spec.addons === "KubeProxy") return [kubeProxyOf(object)];
  const chosen = chosenFor(object, installation, cluster);
  if (chosen.length === 0) return [];
  const { imagePrefix, corednsImage, flannelImage, cinderCsi } = labelSettings(object.spec.labels ?? {}).addons;
  const { csiImage } = installation;
  const prefix = imagePrefix === undefined ? {} : { imagePrefix };
  const image = (given: string | undefined) => (given === undefined ? {} : { image: given });
  const all: readonly (readonly [AddonChoice, Addon])[] = [
    ["network", { name: "flannel", catalogue: { name: "Flannel", ...prefix, ...image(flannelImage) } }],
    ["kube-proxy", { name: "kube-proxy", catalogue: { name: "KubeProxy", ...prefix } }],
    ["coredns", { name: "coredns", catalogue: { name: "CoreDNS", ...prefix, ...image(corednsImage) }, mayChange }],
  ];
  const wanted = all.filter(([choice]) => chosen.includes(choice)).map(([, addon]) => addon);
  if (csiImage === undefined || !cinderCsi) return wanted;
  return [...wanted, { name: "cinder-csi-node", catalogue: { name: "CinderCSINode", image: csiImage } }];
}

/**
 * kube-proxy of a cluster whose nodes had it as a unit of Magnum's Heat driver, which uses iptables. Until the last of
 * those nodes is gone it runs on the new ones only: two on one node conflict.
 */
function kubeProxyOf({ metadata, spec }: MagnumCluster): Addon {
  const { imagePrefix } = labelSettings(spec.labels ?? {}).addons;
  const isMigrating = metadata.annotations?.[migratingAnnotation] !== undefined;
  return {
    name: "kube-proxy",
    catalogue: {
      name: "KubeProxy",
      proxyMode: "iptables",
      ...(imagePrefix === undefined ? {} : { imagePrefix }),
      ...(isMigrating ? { nodeSelector: { [kubeProxyLabel]: "true" } } : {}),
    },
  };
}

/** The AddonSet of a cluster; none: it gets no add-ons. */
export function addonManifests(
  object: MagnumCluster,
  installation: AddonInstallation,
  cluster: Cluster | undefined,
): readonly Manifest[] {
  const { metadata, spec } = object;
  const addons = addonsFor(object, installation, cluster);
  if (addons.length === 0) return [];
  return [
    manifest(AddonSet, {
      apiVersion: "addons.causeway.dev/v1alpha1",
      kind: "AddonSet",
      metadata: {
        name: addonSetNameOf(metadata.name),
        namespace: metadata.namespace ?? "",
        labels: { [magnumLabels.uuid]: spec.uuid, [labels.clusterName]: metadata.name },
        ownerReferences: [ownerReference(object)],
      },
      spec: { clusterName: metadata.name, addons: [...addons] },
    }),
  ];
}

/** What the drivers of network and volumes of a template come to, where that is not what they say. */
export function driverNotes(
  object: MagnumCluster,
  installation: AddonInstallation,
  cluster: Cluster | undefined,
): readonly string[] {
  const { networkDriver, volumeDriver } = object.spec.template;
  const addons = addonsFor(object, installation, cluster).map(({ name }) => name);
  const withoutCsi = volumeDriver !== undefined && !addons.includes("cinder-csi-node");
  return [
    ...(networkDriver === undefined ? [] : networkNotes(networkDriver, addons, { object, installation, cluster })),
    ...(withoutCsi
      ? [`volume_driver=${volumeDriver} has no effect: the node part of the Cinder CSI driver is not installed`]
      : []),
  ];
}

interface Limits {
  readonly object: MagnumCluster;
  readonly installation: AddonInstallation;
  readonly cluster: Cluster | undefined;
}

function networkNotes(driver: string, addons: readonly string[], { object, installation, cluster }: Limits): string[] {
  const what = `network_driver=${driver}`;
  if (addons.includes("flannel"))
    return driver === "flannel" ? [] : [`${what} is served by flannel, which does not enforce NetworkPolicies`];
  if (limitOf(object, cluster) !== undefined)
    return [`${what} has no effect: the cluster keeps the network of pods that it has`];
  const isRouted = installation.podNetwork === "routes";
  return [
    `${what} has no effect: ${isRouted ? "routes of the cloud reach the pods" : "label causeway_addons leaves the network out"}`,
  ];
}
