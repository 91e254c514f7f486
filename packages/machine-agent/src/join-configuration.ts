import { parseAllDocuments } from "yaml";
import { CausewayError, goYamlTags, isRecord } from "@causeway/foundation";
import type { Taint } from "@causeway/kubernetes";
import type { BootPlan } from "./cloud-init.ts";
import { serviceWords } from "./service-words.ts";

/** What `kubeadm join` needs to know, whatever version of its API wrote it. */
export interface JoinConfiguration {
  readonly nodeName: string | undefined;
  /** "id.secret" */
  readonly token: string;
  /** https://host:port of the API server. */
  readonly server: string;
  /** "sha256:<hex>" of the public keys that the cluster's root may have. */
  readonly caCertHashes: readonly string[];
  readonly taints: readonly Taint[];
  readonly labels: Readonly<Record<string, string>>;
  readonly kubeletArgs: Readonly<Record<string, string>>;
}

/**
 * Finds the `kubeadm join --config FILE` among the commands of a boot and reads FILE.
 * Takes kubeadm.k8s.io v1beta3 (arguments as a map) and v1beta4 (as a list).
 * @throws MACHINE_NOT_JOINING when there is no such command or file, MACHINE_JOIN_INVALID when the file lacks what a
 * join needs.
 */
export function joinConfiguration(boot: BootPlan): JoinConfiguration {
  const command = boot.commands.find((c) => /\bkubeadm\s+join\b/.test(c));
  const path = command && /--config(?:=|\s+)(["']?)([^\s"']+)\1/.exec(command)?.[2];
  const text = path && boot.files.get(path);
  if (!text) {
    throw new CausewayError(
      "MACHINE_NOT_JOINING",
      "the user data runs no `kubeadm join --config FILE` with a file that it writes",
      {
        hint: "Only machines made by the kubeadm bootstrap provider join by themselves.",
      },
    );
  }
  const document = documents(text).find((d) => d["kind"] === "JoinConfiguration");
  if (!document) throw invalid("it has no JoinConfiguration");
  const discovery = object(object(document["discovery"])["bootstrapToken"]);
  const registration = object(document["nodeRegistration"]);
  const endpoint = discovery["apiServerEndpoint"];
  const token = discovery["token"];
  if (typeof endpoint !== "string" || typeof token !== "string")
    throw invalid("discovery.bootstrapToken needs token and apiServerEndpoint");
  if (!/^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(token)) throw invalid("its bootstrap token is not of the form id.secret");
  const caCertHashes = strings(discovery["caCertHashes"]);
  if (caCertHashes.length === 0 && discovery["unsafeSkipCAVerification"] !== true)
    throw invalid("discovery.bootstrapToken needs caCertHashes, or says unsafeSkipCAVerification");
  const args = kubeletArgs(registration["kubeletExtraArgs"]);
  return {
    nodeName: typeof registration["name"] === "string" ? registration["name"] : undefined,
    token,
    server: `https://${endpoint}`,
    caCertHashes,
    taints: taints(registration["taints"]),
    labels: labels(args["node-labels"]),
    kubeletArgs: args,
  };
}

function documents(text: string): Record<string, unknown>[] {
  return parseAllDocuments(text, { version: "1.1", customTags: goYamlTags, uniqueKeys: false }).map((document) => {
    // The parser's own words quote the text, and it holds the token.
    if (document.errors.length > 0) throw invalid("it is not valid YAML");
    return object(document.toJS());
  });
}

function invalid(why: string): CausewayError {
  return new CausewayError("MACHINE_JOIN_INVALID", `the kubeadm join configuration cannot be used: ${why}`, {
    hint: "See the bootstrap data Secret of the machine.",
  });
}

function object(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((v) => typeof v === "string") : [];
}

/**
 * The kubelet's flags as it sees them. kubeadm writes them as one line into a file, and systemd splits that line into
 * words: quotes in a value, as in `openstack:///'{{ instance_id }}'`, are gone, and what follows a space is a
 * flag of its own.
 */
function kubeletArgs(value: unknown): Record<string, string> {
  const line = argumentsOf(value).map(([name, argument]) => `--${name}=${argument}`);
  const flags = serviceWords(line.join(" ")).flatMap((word): [string, string][] => {
    const [, name, argument = "true"] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(word) ?? [];
    return name === undefined ? [] : [[name, argument]];
  });
  return Object.fromEntries(flags);
}

function argumentsOf(value: unknown): [string, string][] {
  if (!Array.isArray(value)) return Object.entries(object(value)).map(([name, argument]) => [name, textOf(argument)]);
  return value.flatMap((entry): [string, string][] => {
    const { name, value: argument } = object(entry);
    return typeof name === "string" ? [[name, textOf(argument)]] : [];
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

function taints(value: unknown): Taint[] {
  return (Array.isArray(value) ? value : []).flatMap((entry) => {
    const { key, value: text, effect } = object(entry);
    if (typeof key !== "string" || !isEffect(effect)) return [];
    return [{ key, effect, ...(typeof text === "string" && text !== "" ? { value: text } : {}) }];
  });
}

function isEffect(value: unknown): value is Taint["effect"] {
  return value === "NoSchedule" || value === "PreferNoSchedule" || value === "NoExecute";
}

function labels(text: string | undefined): Record<string, string> {
  const pairs = (text ?? "").split(",").filter((p) => p.includes("="));
  return Object.fromEntries(pairs.map((p) => [p.slice(0, p.indexOf("=")), p.slice(p.indexOf("=") + 1)]));
}
