import { parseCidr } from "@causeway/foundation";

type Labels = Readonly<Record<string, string>>;

/** What becomes of a label of Magnum: it is mapped, it is accepted without effect, or its value is refused. */
interface LabelRule {
  readonly act: "mapped" | "noted";
  /** Why a value is refused; undefined: it is accepted. */
  readonly refuse?: (value: string) => string | undefined;
}

const isTrue = (value: string | undefined): boolean => /^(true|yes|on|1|t|y)$/i.test(value ?? "");
const isFalse = (value: string): boolean => /^(false|no|off|0|f|n|)$/i.test(value);

const mapped = (refuse?: LabelRule["refuse"]): LabelRule => ({ act: "mapped", ...(refuse ? { refuse } : {}) });
const noted: LabelRule = { act: "noted" };
const boolean = (value: string) =>
  isTrue(value) || isFalse(value) ? undefined : "the value is neither true nor false";
const whole = (value: string) => (/^\d{1,9}$/.test(value) ? undefined : "the value is not a whole number");
const cidr = (value: string) => (parseCidr(value) === undefined ? "the value is not a CIDR" : undefined);
const onlyEmpty = (what: string): LabelRule =>
  mapped((value) => (value === "" ? undefined : `${what} is not supported`));

/** Flags that change only what a program logs, and no client of a hosted control plane reads its logs. */
const logFlags = ["log-flush-frequency", "log-json-info-buffer-size", "log-json-split-stream", "v", "vmodule"];

/** Accepted without effect as long as nothing but logs would change. */
const onlyLogFlags = (program: string): LabelRule => ({
  act: "noted",
  refuse(value) {
    const names = value.split(/[\s,]+/).flatMap((word) => (word === "" ? [] : [word.replace(/^--/, "").split("=")[0]]));
    const wrong = names.find((name = "") => !logFlags.includes(name));
    const allowed = logFlags.join(", ");
    return wrong === undefined
      ? undefined
      : `flag ${wrong.slice(0, 100)} of the ${program} is not supported; accepted without effect: ${allowed}`;
  },
});

/** Flags of the kubelet that a tenant may set: those that change nothing outside of its own nodes. */
const kubeletFlags = [
  "max-pods",
  "pod-max-pids",
  "image-gc-high-threshold",
  "image-gc-low-threshold",
  "eviction-hard",
  "eviction-soft",
  "eviction-soft-grace-period",
  "kube-reserved",
  "system-reserved",
  "container-log-max-files",
  "container-log-max-size",
  "cpu-manager-policy",
  "topology-manager-policy",
  "serialize-image-pulls",
  "registry-qps",
  "registry-burst",
  "v",
] as const;

const VERSION = /^v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$/;

const rules: Readonly<Record<string, LabelRule>> = {
  kube_tag: mapped((value) => (VERSION.test(value) ? undefined : 'the value is not a version such as "v1.34.0"')),
  kube_version: noted,
  fixed_subnet_cidr: mapped(cidr),
  calico_ipv4pool: mapped(cidr),
  cilium_ipv4pool: mapped(cidr),
  flannel_network_cidr: mapped(cidr),
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
  kubelet_options: mapped((value) => kubeletArgs(value).refused),
  auto_healing_enabled: mapped(boolean),
  master_lb_allowed_cidrs: onlyEmpty("an access list of the API"),
  api_master_lb_allowed_cidrs: onlyEmpty("an access list of the API"),
  kubeapi_options: onlyLogFlags("API server"),
  kubecontroller_options: onlyLogFlags("controller manager"),
  kubescheduler_options: onlyLogFlags("scheduler"),
  kubeproxy_options: onlyEmpty("flags of kube-proxy"),
  admission_control_list: noted,
  container_infra_prefix: onlyEmpty("a registry of one's own for system images"),
  hyperkube_prefix: noted,
};

/** The first label that is refused, in words that name it; undefined: all are accepted. */
export function refusedLabel(labels: Labels): string | undefined {
  for (const [name, value] of Object.entries(labels)) {
    const why = Object.hasOwn(rules, name) ? rules[name]?.refuse?.(value) : undefined;
    if (why !== undefined) return `label ${name}=${value.slice(0, 200)}: ${why}.`;
  }
  const [fewest, most] = [labels["min_node_count"], labels["max_node_count"]];
  if (fewest !== undefined && most !== undefined && Number(fewest) > Number(most))
    return `label min_node_count=${fewest} is larger than max_node_count=${most}.`;
  return undefined;
}

/** Names of the labels that have no effect here, sorted. */
export function unusedLabels(labels: Labels): readonly string[] {
  return Object.keys(labels)
    .filter((name) => !Object.hasOwn(rules, name) || rules[name]?.act === "noted")
    .sort();
}

export interface KubeletArgs {
  readonly args: readonly { readonly name: string; readonly value: string }[];
  readonly refused: string | undefined;
}

/** The flags of `kubelet_options`, "--max-pods=50 --v=2". */
export function kubeletArgs(value: string): KubeletArgs {
  const words = value.split(/\s+/).filter((word) => word !== "");
  const args = words.map((word) => {
    const [, name = word, flag = "true"] = /^--([a-z0-9-]+)(?:=(.*))?$/i.exec(word) ?? [];
    return { name, value: flag };
  });
  const allowed = new Set<string>(kubeletFlags);
  const wrong = args.find(({ name }) => !allowed.has(name));
  const refused =
    wrong && `the kubelet's flag ${wrong.name.slice(0, 100)} may not be set; allowed: ${kubeletFlags.join(", ")}`;
  return { args, refused };
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
  readonly keystone: boolean;
  /** The bounds within which an autoscaler decides; undefined: it does not. */
  readonly autoscaling: { readonly min: number; readonly max: number | undefined } | undefined;
  /** Nodes that are not ready for long are replaced. */
  readonly healing: boolean;
  readonly kubelet: KubeletArgs["args"];
}

/** Accepted labels as settings; defaults are those of Magnum's drivers. */
export function labelSettings(labels: Labels): LabelSettings {
  const text = (name: string) => labels[name] || undefined;
  const number = (name: string) => (text(name) === undefined ? undefined : Number(labels[name]));
  const size = number("boot_volume_size") ?? 0;
  const tag = text("kube_tag");
  return {
    version: tag === undefined || tag.startsWith("v") ? tag : `v${tag}`,
    nodeCidr: text("fixed_subnet_cidr") ?? "10.0.0.0/24",
    podCidr: text("calico_ipv4pool") ?? text("cilium_ipv4pool") ?? text("flannel_network_cidr") ?? "10.100.0.0/16",
    serviceCidr: text("service_cluster_ip_range") ?? "10.254.0.0/16",
    availabilityZone: text("availability_zone"),
    bootVolume: size > 0 ? { size, type: text("boot_volume_type") } : undefined,
    dockerVolumeType: text("docker_volume_type"),
    keystone: isTrue(labels["keystone_auth_enabled"]),
    autoscaling: isTrue(labels["auto_scaling_enabled"])
      ? { min: number("min_node_count") ?? 1, max: number("max_node_count") }
      : undefined,
    healing: isTrue(labels["auto_healing_enabled"]),
    kubelet: kubeletArgs(labels["kubelet_options"] ?? "").args,
  };
}
