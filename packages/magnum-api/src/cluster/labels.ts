import type { FlaggedProgram, FlagSettings, FlagValue, HostedControlPlaneSpec } from "@causeway/api";
import { parseCidr } from "@causeway/foundation";
import { addonLabels, addonSettings, type AddonSettings } from "./addon-labels.ts";
import { kubeletArgs, readAdmission, readFlags, type KubeletArgs, type ReadFlags } from "./flags.ts";
import { labelBounds, type LabelBounds } from "./scaling.ts";
import { boolean, cidr, isTrue, mapped, noted, onlyEmpty, podNetwork, whole, type LabelRule } from "./label-rule.ts";

type Labels = Readonly<Record<string, string>>;

/** Characters of a label with flags, before it is read. */
const LONGEST = 4_096;
const short =
  (refuse: (value: string) => string | undefined) =>
  (value: string): string | undefined =>
    value.length > LONGEST ? `it is longer than ${LONGEST} characters` : refuse(value);

const flagLabel = (read: (value: string) => ReadFlags): LabelRule => ({
  act: "mapped",
  refuse: short((value) => read(value).refused),
  works: (value) => Object.keys(read(value).settings).length > 0,
});

/** Labels whose flags become those of the control plane, by its program. */
const flagLabels = {
  kubeapi_options: ["apiServer", (value: string) => readFlags("apiServer", value)],
  admission_control_list: ["apiServer", readAdmission],
  kubecontroller_options: ["controllerManager", (value: string) => readFlags("controllerManager", value)],
} as const;

const MOST_CIDRS = 50;
const listed = (value: string): readonly string[] => value.split(/[\s,]+/).filter((each) => each !== "");
const EVERYWHERE = /^(0\.0\.0\.0|::)\/0$/;
/** A list with everything in it is none. */
function cidrsOf(value: string): readonly string[] {
  const all = listed(value);
  return all.some((each) => EVERYWHERE.test(each)) ? [] : all;
}

function notCidrs(value: string): string | undefined {
  const all = listed(value);
  if (all.length > MOST_CIDRS) return `it has more than ${MOST_CIDRS} networks`;
  const wrong = all.find((each) => parseCidr(each) === undefined);
  return wrong === undefined ? undefined : `"${wrong.slice(0, 100)}" is not a CIDR such as 192.0.2.0/24`;
}

/** Of both labels: a control plane takes 100, and those of nodes, routers and the operator come in addition. */
const MOST_NETWORKS = 50;

const accessLabels = ["master_lb_allowed_cidrs", "api_master_lb_allowed_cidrs"] as const;

/** Networks that may reach the API, in the words of its labels; none: all may. */
function accessOf(labels: Labels): readonly string[] {
  return [...new Set(accessLabels.flatMap((name) => cidrsOf(labels[name] ?? "")))];
}

/** What an installation does not support everywhere. */
export interface LabelSupport {
  /** Control planes are behind load balancers with access lists, and the operator's own networks are known. */
  readonly accessLists: boolean;
}

const VERSION = /^v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$/;

/** Octavia's providers are chosen by the cloud's operator. */
const provider = (value: string) =>
  /^[A-Za-z0-9_-]{0,64}$/.test(value) ? undefined : "the value is not the name of a provider of Octavia";
const algorithms: readonly string[] = ["ROUND_ROBIN", "LEAST_CONNECTIONS", "SOURCE_IP", "SOURCE_IP_PORT"];
const algorithm = (value: string) =>
  value === "" || algorithms.includes(value) ? undefined : `the value is none of ${algorithms.join(", ")}`;

const rules: Readonly<Record<string, LabelRule>> = {
  kube_tag: mapped((value) => (VERSION.test(value) ? undefined : 'the value is not a version such as "v1.34.0"')),
  kube_version: noted,
  fixed_subnet_cidr: mapped(cidr),
  calico_ipv4pool: podNetwork,
  cilium_ipv4pool: podNetwork,
  flannel_network_cidr: podNetwork,
  service_cluster_ip_range: mapped(cidr),
  availability_zone: mapped(),
  boot_volume_size: mapped(whole),
  boot_volume_type: mapped(),
  docker_volume_type: mapped(),
  keystone_auth_enabled: mapped(boolean),
  auto_scaling_enabled: mapped(boolean),
  min_node_count: mapped(whole),
  max_node_count: mapped(whole),
  master_lb_floating_ip_enabled: { act: "noted", refuse: boolean },
  kubelet_options: mapped(short((value) => kubeletArgs(value).refused)),
  auto_healing_enabled: mapped(boolean),
  master_lb_allowed_cidrs: mapped(notCidrs),
  api_master_lb_allowed_cidrs: mapped(notCidrs),
  kubeapi_options: flagLabel(flagLabels.kubeapi_options[1]),
  kubecontroller_options: flagLabel(flagLabels.kubecontroller_options[1]),
  kubescheduler_options: { act: "noted", refuse: short((value) => readFlags("scheduler", value).refused) },
  kubeproxy_options: onlyEmpty(
    "kube-proxy is installed in the cluster, by an AddonSet or its users, with its settings; this label",
  ),
  admission_control_list: flagLabel(flagLabels.admission_control_list[1]),
  octavia_provider: mapped(provider),
  octavia_lb_algorithm: mapped(algorithm),
  octavia_lb_healthcheck: mapped(boolean),
  hyperkube_prefix: noted,
  ...addonLabels,
};

/** Bytes of all labels of one object: a cluster keeps those of its template and of each node group, too. */
const LARGEST = 32 * 1024;

function sizeOf(labels: Labels): number {
  return Object.entries(labels).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    0,
  );
}

/** The first label that is refused, in words that name it; undefined: all are accepted. */
export function refusedLabel(labels: Labels, support: LabelSupport = { accessLists: false }): string | undefined {
  const size = sizeOf(labels);
  if (size > LARGEST)
    return `labels are refused: together they have ${size} bytes, and at most ${LARGEST} are accepted.`;
  const list = accessLabels.find((name) => cidrsOf(labels[name] ?? "").length > 0);
  if (list !== undefined && !support.accessLists)
    return refusal(list, labels[list] ?? "", "an access list of the API is not supported here");
  if (list !== undefined && accessOf(labels).length > MOST_NETWORKS)
    return refusal(list, labels[list] ?? "", `access lists have more than ${MOST_NETWORKS} networks together`);
  for (const [name, value] of Object.entries(labels)) {
    // Horizon sends an empty text for what was not filled in.
    const why = value !== "" && Object.hasOwn(rules, name) ? rules[name]?.refuse?.(value) : undefined;
    if (why !== undefined) return refusal(name, value, why);
  }
  const [fewest, most] = [labels["min_node_count"] || undefined, labels["max_node_count"] || undefined];
  if (fewest !== undefined && most !== undefined && Number(fewest) > Number(most))
    return `label min_node_count=${fewest} is larger than max_node_count=${most}.`;
  return undefined;
}

/** The reason comes before the value: clients print the first sentence of a refusal, which a value may end. */
const refusal = (name: string, value: string, why: string): string =>
  `label ${name} is refused: ${why}; its value is ${value.slice(0, 200)}.`;

/** Names of the labels that have no effect here, sorted; with this runtime of the control plane, if it is known. */
export function unusedLabels(labels: Labels, runtime?: HostedControlPlaneSpec["runtime"]): readonly string[] {
  return Object.keys(labels)
    .filter((name) => !hasEffect(name, labels[name] ?? "") && !isServed(name, labels[name], runtime))
    .sort();
}

/** What Causeway's own API server has without an add-on: metrics of nodes and pods. */
const isServed = (name: string, value: string | undefined, runtime: HostedControlPlaneSpec["runtime"]): boolean =>
  runtime === "Embedded" && name === "metrics_server_enabled" && isTrue(value);

function hasEffect(name: string, value: string): boolean {
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  return rule?.act === "mapped" && rule.works?.(value) !== false;
}

/** Labels that set flags of the control plane's programs. */
export function flagLabelsOf(labels: Labels): readonly string[] {
  return Object.keys(flagLabels).filter((name) => labels[name] !== undefined && hasEffect(name, labels[name]));
}

/** `spec.flags` of the control plane; undefined: there are none. */
function flagsOf(labels: Labels): HostedControlPlaneSpec["flags"] {
  const flags: { [K in FlaggedProgram]?: Record<string, FlagValue> } = {};
  for (const [name, [program, read]] of Object.entries(flagLabels)) {
    const { settings } = read(labels[name] ?? "");
    if (Object.keys(settings).length > 0) flags[program] = merged(flags[program] ?? {}, settings);
  }
  return Object.keys(flags).length === 0 ? undefined : flags;
}

function union(a: FlagValue | undefined, b: FlagValue): FlagValue {
  const isList = (value: FlagValue | undefined): value is readonly string[] => Array.isArray(value);
  return isList(a) && isList(b) ? [...new Set([...a, ...b])].toSorted() : b;
}

/** Lists of two labels are one list. */
function merged(a: FlagSettings, b: FlagSettings): Record<string, FlagValue> {
  const both = Object.entries(b).map(([field, value]): [string, FlagValue] => [field, union(a[field], value)]);
  return { ...a, ...Object.fromEntries(both) };
}

/** The settings that labels give, each where it has one. */
export interface LabelSettings {
  readonly version: string | undefined;
  readonly nodeCidr: string;
  readonly podCidr: string;
  readonly serviceCidr: string;
  readonly availabilityZone: string | undefined;
  readonly bootVolume: { readonly size: number; readonly type: string | undefined } | undefined;
  readonly dockerVolumeType: string | undefined;
  /** Users come in with their Keystone tokens; undefined: no label says. */
  readonly keystone: boolean | undefined;
  /** Of the cloud controller: each that a label gives. */
  readonly loadBalancers: {
    readonly provider: string | undefined;
    readonly method: string | undefined;
    readonly monitor: boolean | undefined;
  };
  /** The bounds within which an autoscaler decides; undefined: it does not. */
  readonly autoscaling: LabelBounds | undefined;
  /** Nodes that are not ready for long are replaced. */
  readonly healing: boolean;
  readonly kubelet: KubeletArgs["args"];
  /** Networks that may reach the API; none: all may. */
  readonly access: readonly string[];
  /** Of the control plane's programs; undefined: none. */
  readonly flags: HostedControlPlaneSpec["flags"];
  readonly addons: AddonSettings;
}

/** Accepted labels as settings; defaults are those of Magnum's drivers. */
export function labelSettings(labels: Labels): LabelSettings {
  const text = (name: string) => labels[name] || undefined;
  const number = (name: string) => (text(name) === undefined ? undefined : Number(labels[name]));
  const size = number("boot_volume_size") ?? 0;
  const said = (name: string) => (text(name) === undefined ? undefined : isTrue(labels[name]));
  // Images of the Heat driver's clusters add a suffix of their own to the version.
  const tag = text("kube_tag")?.replace(/-rancher.*$/, "");
  return {
    version: tag === undefined || tag.startsWith("v") ? tag : `v${tag}`,
    nodeCidr: text("fixed_subnet_cidr") ?? "10.0.0.0/24",
    podCidr: text("calico_ipv4pool") ?? text("cilium_ipv4pool") ?? text("flannel_network_cidr") ?? "10.100.0.0/16",
    serviceCidr: text("service_cluster_ip_range") ?? "10.254.0.0/16",
    availabilityZone: text("availability_zone"),
    bootVolume: size > 0 ? { size, type: text("boot_volume_type") } : undefined,
    dockerVolumeType: text("docker_volume_type"),
    keystone: said("keystone_auth_enabled"),
    loadBalancers: {
      provider: text("octavia_provider"),
      method: text("octavia_lb_algorithm"),
      monitor: said("octavia_lb_healthcheck"),
    },
    autoscaling: labelBounds(labels),
    healing: isTrue(labels["auto_healing_enabled"]),
    kubelet: kubeletArgs(labels["kubelet_options"] ?? "").args,
    access: accessOf(labels),
    flags: flagsOf(labels),
    addons: addonSettings(labels),
  };
}
