import { programFlags, type FlaggedProgram, type FlagSettings, type FlagValue } from "@causeway/api";
import { suggestion } from "@causeway/foundation";

/** Flags that change only what a program logs, and no client of a hosted control plane reads its logs. */
const logFlags = ["log-flush-frequency", "log-json-info-buffer-size", "log-json-split-stream", "v", "vmodule"];

/** The scheduler has its settings in a file of the operator: a tenant has none of its flags. */
type Program = FlaggedProgram | "scheduler";

/** The flags of a label after the check against the catalogue of flags that a tenant may set. */
export interface ReadFlags {
  /** Fields of spec.flags of the control plane. */
  readonly settings: FlagSettings;
  /** Why the first flag that may not be set is refused; undefined: all are accepted. */
  readonly refused: string | undefined;
}

type Flag = readonly [name: string, value: string];

/** "--a=1 --b=2", or "a=1,b=2": name and value of each flag. A comma in a value is not one between flags. */
function flagsOf(label: string): readonly Flag[] {
  return wordsOf(label, label.includes("--") ? /\s+|,(?=--)/ : /\s+|,(?=[a-z][a-z0-9-]*=)/);
}

function wordsOf(label: string, between: RegExp): readonly Flag[] {
  return label
    .split(between)
    .filter((word) => word !== "")
    .map((word) => {
      const [name = "", ...rest] = word.replace(/^--/, "").split("=");
      return [name, rest.length === 0 ? "true" : rest.join("=")];
    });
}

/** The flags of a label such as kubeapi_options. */
export function readFlags(program: Program, label: string): ReadFlags {
  const rows = program === "scheduler" ? [] : programFlags[program];
  const settings: Record<string, FlagValue> = {};
  for (const [name, text] of flagsOf(label)) {
    if (logFlags.includes(name)) continue;
    const known = rows.find(({ flag }) => flag === name);
    if (known === undefined) return { settings: {}, refused: whyRefused(program, name) };
    const value = known.values.read(text);
    if (value === undefined) return { settings: {}, refused: notAllowed(name, text, known.values.words) };
    // Of a list, what every control plane has anyway.
    if (!Array.isArray(value) || value.length > 0) settings[known.field] = value;
  }
  return { settings, refused: undefined };
}

const notAllowed = (name: string, value: string, words: string): string =>
  `flag ${name}=${value.slice(0, 100)} is not allowed: the value is ${words}`;

/** No flag is near a name that is longer than any. */
const nearest = (name: string, flags: readonly string[]): string => (name.length > 100 ? "" : suggestion(name, flags));

/** Why flags that users know may not be set. */
const refusals: readonly (readonly [RegExp, string])[] = [
  [
    /^pod-eviction-timeout$/,
    "Kubernetes does not have it any more; in kubeapi_options set default-not-ready-toleration-seconds and default-unreachable-toleration-seconds",
  ],
  [/^oidc-/, "the control plane would connect to an address of a tenant's choice; set label keystone_auth_enabled"],
  [/^(feature-gates|runtime-config)$/, "a program does not start with a word that its version does not know"],
  [/^(config|audit|encryption|egress|admission-control-config)/, "it names files or servers of the operator"],
  [/(-file|-path|-dir|-directory|kubeconfig|-socket)$/, "it names a file of the operator"],
  [
    /^(anonymous-auth|authorization-|authentication-|token-|client-ca|requestheader-)/,
    "isolation depends on its value",
  ],
  [/^(etcd|storage|watch-cache|max-|min-request|concurrent-|kube-api-)/, "it belongs to the control plane's size"],
  [
    /^(disable-admission-plugins|allow-privileged|cluster-|service-cluster-ip|bind-|secure-port|advertise-)/,
    "the control plane depends on its value",
  ],
];

function whyRefused(program: Program, name: string): string {
  const names = program === "scheduler" ? [] : programFlags[program].map(({ flag }) => flag);
  const why = refusals.find(([pattern]) => pattern.test(name))?.[1];
  const near = why === undefined ? nearest(name, [...names, ...logFlags]) : `: ${why}`;
  const set = names.length === 0 ? "" : `; allowed: ${names.join(", ")}`;
  return `flag ${name.slice(0, 100)} may not be set${near}${set}; accepted without effect: ${logFlags.join(", ")}`;
}

/** Values of a kubelet's flag, and what they are in words. */
type KubeletValues = readonly [pattern: RegExp, words: string];

const number: KubeletValues = [/^\d{1,7}$/, "a whole number"];
const percent: KubeletValues = [/^(100|\d{1,2})$/, "a number of percent"];
const yesOrNo: KubeletValues = [/^(true|false)$/, "true or false"];
const time: KubeletValues = [/^(\d{1,6}(\.\d{1,3})?(ms|s|m|h)){1,4}$/, "a time such as 30s"];
const size: KubeletValues = [/^\d{1,12}([KMGT]i?)?$/, "a size such as 10Mi"];
const word: KubeletValues = [/^[a-z][a-z-]{1,40}$/, "a word"];
const thresholds: KubeletValues = [
  /^[a-z]+(\.[A-Za-z]+)?[<=][0-9A-Za-z.%]{1,24}(,[a-z]+(\.[A-Za-z]+)?[<=][0-9A-Za-z.%]{1,24}){0,9}$/,
  "a list such as memory.available<100Mi,nodefs.available<10%",
];
const amounts: KubeletValues = [
  /^[a-z][A-Za-z.-]{0,40}=[0-9A-Za-z.]{1,24}(,[a-z][A-Za-z.-]{0,40}=[0-9A-Za-z.]{1,24}){0,9}$/,
  "a list such as cpu=100m,memory=200Mi",
];
const names: KubeletValues = [/^[a-z0-9._*/-]{1,64}(,[a-z0-9._*/-]{1,64}){0,19}$/, "a list of names"];

/**
 * Flags of the kubelet that a tenant may set: nodes are the tenant's own, so these are the ones that keep a node one
 * that joins and that the control plane reaches.
 */
const kubeletFlags: Readonly<Record<string, KubeletValues>> = {
  "max-pods": number,
  "pods-per-core": number,
  "pod-max-pids": number,
  "max-open-files": number,
  "image-gc-high-threshold": percent,
  "image-gc-low-threshold": percent,
  "eviction-hard": thresholds,
  "eviction-soft": thresholds,
  "eviction-minimum-reclaim": amounts,
  "eviction-soft-grace-period": amounts,
  "eviction-max-pod-grace-period": number,
  "eviction-pressure-transition-period": time,
  "kube-reserved": amounts,
  "system-reserved": amounts,
  "container-log-max-files": number,
  "container-log-max-size": size,
  "cpu-cfs-quota": yesOrNo,
  "cpu-manager-policy": word,
  "topology-manager-policy": word,
  "allowed-unsafe-sysctls": names,
  "node-status-update-frequency": time,
  "serialize-image-pulls": yesOrNo,
  "registry-qps": number,
  "registry-burst": number,
  v: number,
};

/** The flags of label kubelet_options, as extra arguments of the kubelet in a KubeadmConfigTemplate. */
export interface KubeletArgs {
  /** All flags, refused ones, too: what was accepted once is not changed. */
  readonly args: readonly { readonly name: string; readonly value: string }[];
  readonly refused: string | undefined;
}

/** The flags of `kubelet_options`, "--max-pods=50 --v=2". */
export function kubeletArgs(label: string): KubeletArgs {
  const words = wordsOf(label, /\s+/);
  return {
    args: words.map(([name, value]) => ({ name, value })),
    refused: firstRefused(words),
  };
}

/** The words after a refused one are not read: the nearest flag of each takes long to find. */
function firstRefused(words: readonly Flag[]): string | undefined {
  for (const word of words) {
    const why = whyNoKubeletFlag(word);
    if (why !== undefined) return why;
  }
  return undefined;
}

function whyNoKubeletFlag([name, value]: Flag): string | undefined {
  const flags = Object.keys(kubeletFlags);
  const known = Object.hasOwn(kubeletFlags, name) ? kubeletFlags[name] : undefined;
  if (known === undefined) {
    const near = nearest(name, flags);
    return `the kubelet's flag ${name.slice(0, 100)} may not be set${near}; allowed: ${flags.join(", ")}`;
  }
  const [pattern, words] = known;
  return pattern.test(value) ? undefined : `the kubelet's ${notAllowed(name, value, words)}`;
}

/** Plugins that Kubernetes has on by itself, or that it does not have any more. */
const withoutEffect = new Set([
  "NodeRestriction",
  "CertificateApproval",
  "CertificateSigning",
  "CertificateSubjectRestriction",
  "DefaultIngressClass",
  "DefaultStorageClass",
  "DefaultTolerationSeconds",
  "Initializers",
  "LimitRanger",
  "MutatingAdmissionWebhook",
  "NamespaceLifecycle",
  "PersistentVolumeClaimResize",
  "PersistentVolumeLabel",
  "PodSecurity",
  "PodSecurityPolicy",
  "Priority",
  "ResourceQuota",
  "RuntimeClass",
  "ServiceAccount",
  "StorageObjectInUseProtection",
  "ValidatingAdmissionWebhook",
]);

/** The plugins of `admission_control_list` that are on only since the label names them, as flags of the API server. */
export function readAdmission(label: string): ReadFlags {
  const named = label.split(/[\s,]+/).filter((each) => each !== "" && !withoutEffect.has(each));
  return named.length === 0
    ? { settings: {}, refused: undefined }
    : readFlags("apiServer", `enable-admission-plugins=${named.join(",")}`);
}
