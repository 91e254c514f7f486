import { isFalse, isTrue, mapped, noted, type LabelRule } from "./label-rule.ts";

type Labels = Readonly<Record<string, string>>;

/** What a cluster has of add-ons, by the words of label causeway_addons. */
export const addonChoices = ["kube-proxy", "coredns", "network"] as const;
/** One word of label causeway_addons. */
export type AddonChoice = (typeof addonChoices)[number];

const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const tag = (value: string) => (value === "" || TAG.test(value) ? undefined : "the value is not a tag of an image");
/** Together with the longest name and tag it is within the 512 characters of an image. */
const PREFIX = /^[0-9A-Za-z][0-9A-Za-z._:/-]{0,299}$/;
const prefix = (value: string) =>
  value === "" || (PREFIX.test(value) && !value.replace(/\/$/, "").includes("//"))
    ? undefined
    : "the value is not a registry with a path such as registry.example.org/mirror/";

/** The first version of flannel with nftables, which the add-on uses. */
const FIRST_FLANNEL = [0, 26] as const;
function isCurrentFlannel(value: string): boolean {
  const [, major = "", minor = ""] = /^v?(\d+)\.(\d+)\./.exec(value) ?? [];
  return major !== "" && (Number(major) > FIRST_FLANNEL[0] || Number(minor) >= FIRST_FLANNEL[1]);
}

function choice(value: string): string | undefined {
  const unknown = wordsOf(value).find((each) => each !== "none" && !addonChoices.some((known) => known === each));
  if (unknown !== undefined)
    return `"${unknown.slice(0, 100)}" is none of ${addonChoices.join(", ")}; "none" leaves all of them out`;
  return undefined;
}
const wordsOf = (value: string) => value.split(/[\s,]+/).filter((each) => each !== "");

/** What is not installed: only the wish not to have it has an effect. */
const notInstalled: LabelRule = { act: "mapped", works: isFalse };
const onlyValue = (only: string): LabelRule => ({ act: "mapped", works: (value) => value === only });

/** The ingress controller that runs outside of the cluster; no other one is installed. */
const OCTAVIA = "octavia";

/** Labels about add-ons of the cluster. */
export const addonLabels: Readonly<Record<string, LabelRule>> = {
  causeway_addons: mapped(choice),
  container_infra_prefix: mapped(prefix),
  coredns_tag: mapped(tag),
  flannel_tag: { act: "mapped", refuse: tag, works: isCurrentFlannel },
  flannel_cni_tag: noted,
  flannel_backend: onlyValue("vxlan"),
  flannel_network_subnetlen: onlyValue("24"),
  calico_tag: noted,
  cloud_provider_enabled: { act: "mapped", works: isTrue },
  // Where the installation has no image of the driver, the attributes' table says so.
  cinder_csi_enabled: mapped(),
  ingress_controller: { act: "mapped", works: (value) => value === "" || value === OCTAVIA },
  kube_dashboard_enabled: notInstalled,
  metrics_server_enabled: notInstalled,
  monitoring_enabled: notInstalled,
  prometheus_monitoring: notInstalled,
  prometheus_adapter_enabled: notInstalled,
  influx_grafana_dashboard_enabled: notInstalled,
  heapster_enabled: notInstalled,
  npd_enabled: notInstalled,
  tiller_enabled: notInstalled,
  manila_csi_enabled: notInstalled,
};

/** What the labels of a cluster say about its add-ons; `addonsOf` makes the AddonSet from it. */
export interface AddonSettings {
  readonly chosen: readonly AddonChoice[];
  /** Registry and path of all their images, without a slash at its end; undefined: the projects' own registries. */
  readonly imagePrefix: string | undefined;
  /** The image of CoreDNS; undefined: the one that belongs to the version of Kubernetes. */
  readonly corednsImage: string | undefined;
  readonly flannelImage: string | undefined;
  /** The driver of Cinder volumes is wanted, as Magnum's default has it. */
  readonly cinderCsi: boolean;
  /** Ingresses and Gateways get load balancers of Octavia. */
  readonly octaviaIngress: boolean;
}

/**
 * Reads the labels of a cluster that `addonLabels` accepted. Without label causeway_addons all add-ons are chosen;
 * "none"
 * chooses no add-on.
 */
export function addonSettings(labels: Labels): AddonSettings {
  const words = wordsOf(labels["causeway_addons"] ?? "");
  const imagePrefix = labels["container_infra_prefix"]?.replace(/\/+$/, "") || undefined;
  const [corednsTag, flannelTag] = [labels["coredns_tag"] ?? "", labels["flannel_tag"] ?? ""];
  const flannel = `${imagePrefix ?? "ghcr.io/flannel-io"}/flannel:${flannelTag}`;
  return {
    chosen: words.length === 0 ? addonChoices : addonChoices.filter((each) => words.includes(each)),
    imagePrefix,
    corednsImage: corednsTag === "" ? undefined : `${imagePrefix ?? corednsRegistry(corednsTag)}/coredns:${corednsTag}`,
    flannelImage: isCurrentFlannel(flannelTag) ? flannel : undefined,
    cinderCsi: !isFalse(labels["cinder_csi_enabled"] ?? "true"),
    octaviaIngress: labels["ingress_controller"] === OCTAVIA,
  };
}

/** Kubernetes' registry has tags that begin with "v"; the project's own, which Magnum's driver uses, has no "v". */
const corednsRegistry = (given: string) => (given.startsWith("v") ? "registry.k8s.io/coredns" : "docker.io/coredns");
