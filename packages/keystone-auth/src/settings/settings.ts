import { InputError } from "@causeway/foundation";

/** The flags of k8s-keystone-auth, and what we add; names as on the command line, in camel case. */
export interface Flags {
  readonly listen?: string;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  readonly keystoneUrl?: string;
  readonly keystoneCaFile?: string;
  readonly keystonePolicyFile?: string;
  readonly policyConfigmapName?: string;
  readonly syncConfigFile?: string;
  readonly syncConfigmapName?: string;
  readonly kubeconfig?: string;
  readonly userAgent?: readonly string[];
  readonly clientCaFile?: string;
  readonly allowedProjects?: readonly string[];
  readonly allowedDomains?: readonly string[];
  readonly tokenRecheck?: string;
  readonly keystoneOutage?: string;
  readonly keystoneRate?: string;
}

/** Durations in milliseconds. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly keystoneUrl: string;
  readonly keystoneCaFile: string | undefined;
  readonly policyFile: string | undefined;
  readonly policyConfigMap: string | undefined;
  readonly syncFile: string | undefined;
  readonly syncConfigMap: string | undefined;
  readonly kubeconfig: string | undefined;
  /** Whether the cluster is needed at all. */
  readonly needsCluster: boolean;
  readonly clientCaFile: string | undefined;
  /** Undefined: all. */
  readonly projects: readonly string[] | undefined;
  /** Undefined: all. */
  readonly domains: readonly string[] | undefined;
  readonly recheck: number;
  readonly outage: number;
  /** Requests to Keystone a second. */
  readonly rate: number;
  readonly userAgent: string;
  /** What is not configured, for the log. */
  readonly warnings: readonly string[];
}

/** Flags win over environment variables, whose names are upstream's. @throws KEYSTONE_AUTH_FLAG_INVALID */
export function readSettings(flags: Flags, env: Readonly<Record<string, string | undefined>>): Settings {
  const pick = (flag: string | undefined, variable: string): string | undefined => flag || env[variable] || undefined;
  const keystoneUrl = pick(flags.keystoneUrl, "OS_AUTH_URL");
  requireAddress(keystoneUrl);
  const certificateFile = pick(flags.tlsCertFile, "TLS_CERT_FILE");
  const keyFile = pick(flags.tlsPrivateKeyFile, "TLS_PRIVATE_KEY_FILE");
  if (certificateFile === undefined || keyFile === undefined)
    throw invalid("--tls-cert-file and --tls-private-key-file are needed");
  const policyFile = pick(flags.keystonePolicyFile, "KEYSTONE_POLICY_FILE");
  const policyConfigMap = pick(flags.policyConfigmapName, "KEYSTONE_POLICY_CONFIGMAP_NAME");
  const syncFile = pick(flags.syncConfigFile, "KEYSTONE_SYNC_CONFIG_FILE");
  const syncConfigMap = pick(flags.syncConfigmapName, "KEYSTONE_SYNC_CONFIGMAP_NAME");
  return {
    ...addressOf(flags.listen ?? "0.0.0.0:8443"),
    certificateFile,
    keyFile,
    keystoneUrl,
    keystoneCaFile: pick(flags.keystoneCaFile, "KEYSTONE_CA_FILE"),
    policyFile,
    policyConfigMap,
    syncFile,
    syncConfigMap,
    kubeconfig: pick(flags.kubeconfig, "KEYSTONE_KUBECONFIG_FILE"),
    needsCluster: [policyConfigMap, syncConfigMap, syncFile].some((given) => given !== undefined),
    clientCaFile: flags.clientCaFile,
    projects: namesOf("allowed-projects", flags.allowedProjects),
    domains: namesOf("allowed-domains", flags.allowedDomains),
    recheck: seconds("token-recheck", flags.tokenRecheck ?? "60s"),
    outage: seconds("keystone-outage", flags.keystoneOutage ?? "10m"),
    rate: rateOf(flags.keystoneRate ?? "20"),
    userAgent: ["causeway-keystone-auth", ...(flags.userAgent ?? [])].join(" "),
    warnings: [
      ...((policyFile ?? policyConfigMap)
        ? []
        : [
            "no --keystone-policy-file or --policy-configmap-name: every access review is denied; use RBAC for authorization",
          ]),
      ...((syncFile ?? syncConfigMap)
        ? []
        : ["no --sync-config-file or --sync-configmap-name: nothing is synchronised between Keystone and the cluster"]),
    ],
  };
}

/** The message has no part of it: it may have a password. */
function requireAddress(given: string | undefined): asserts given is string {
  const url = given === undefined ? null : URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalid("--keystone-url (or OS_AUTH_URL) is not the URL of Keystone: https://HOST/v3, or http");
  if (url.username !== "" || url.password !== "")
    throw invalid("--keystone-url (or OS_AUTH_URL) has a name or password in it: users bring their own tokens");
}

function invalid(why: string): InputError {
  return new InputError("KEYSTONE_AUTH_FLAG_INVALID", `Keystone authentication cannot start: ${why}.`, {
    hint: "See `causeway run keystone-auth --help`.",
  });
}

function addressOf(listen: string): { host: string; port: number } {
  const match = /^(?:\[([\da-fA-F:.]+)\]|([^:]*)):(\d{1,5})$/.exec(listen);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw invalid(`--listen is "${listen}", not ADDRESS:PORT`);
  return { host: match[1] ?? (match[2] || "0.0.0.0"), port };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A duration with one unit or more: "90s", "1m30s". */
function seconds(flag: string, duration: string): number {
  if (!/^(\d{1,9}(ms|s|m|h))+$/.test(duration)) throw invalid(`--${flag} is "${duration}", not a duration such as 60s`);
  let sum = 0;
  for (const [, number, unit] of duration.matchAll(/(\d+)(ms|s|m|h)/g))
    sum += Number(number) * (UNITS[unit ?? ""] ?? 0);
  return sum;
}

function namesOf(flag: string, given: readonly string[] | undefined): readonly string[] | undefined {
  // An empty one, as of a variable that is not set in a script, must not open the cluster to all.
  if (given?.some((name) => name.trim() === "")) throw invalid(`--${flag} has an empty name`);
  return given;
}

function rateOf(given: string): number {
  const rate = Number(given);
  if (!(rate > 0 && rate <= 10_000)) throw invalid(`--keystone-rate is "${given}", not a number of requests a second`);
  return rate;
}
