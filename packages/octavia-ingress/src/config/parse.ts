import { InputError, messageOf } from "@causeway/foundation";
import { parse } from "yaml";
import { MEMBER_PLACES, type IngressConfig } from "./config.ts";

/** The configuration file as it is, checked. */
export interface ConfigFile {
  readonly config: IngressConfig;
  /** How to reach the cluster; both undefined: as a pod of it. */
  readonly kubernetes: { readonly host: string | undefined; readonly kubeconfig: string | undefined };
  /** A cloud.conf with upstream's [Global] keys, for the reader of cloud.conf. */
  readonly cloudConf: string;
  readonly warnings: readonly string[];
}

const LONGEST = 256 * 1024;
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  openstack: `auth-url username user-id password region os-endpoint-type tls-insecure
    project-id project-name project-domain-id project-domain-name user-domain-id user-domain-name domain-id domain-name
    trust-id trustee-id trustee-password ca-file cert-file key-file use-clouds clouds-file cloud
    application-credential-id application-credential-name application-credential-secret`.split(/\s+/),
  kubernetes: ["api-host", "kubeconfig"],
  octavia: [
    "provider",
    "subnet-id",
    "floating-network-id",
    "manage-security-groups",
    "flavor-id",
    "provider-requires-serial-api-calls",
    "members",
  ],
};

/** Upstream's keys of the section openstack that cloud.conf names otherwise. */
const RENAMED: Readonly<Record<string, string>> = {
  "project-id": "tenant-id",
  "project-name": "tenant-name",
  "project-domain-id": "tenant-domain-id",
  "project-domain-name": "tenant-domain-name",
};

/**
 * Reads the YAML of octavia-ingress-controller's configuration file. @throws INGRESS_CONFIG_INVALID
 * @example
 * const { config, cloudConf } = readConfig("cluster-name: shop\noctavia: { subnet-id: s1 }");
 */
export function readConfig(yaml: string): ConfigFile {
  if (yaml.length > LONGEST) throw invalid(`it is larger than ${LONGEST} bytes`);
  let value: unknown;
  try {
    value = parse(yaml, { maxAliasCount: 10, prettyErrors: false, logLevel: "error" });
  } catch (error) {
    throw invalid(`it is not YAML: ${messageOf(error)}`);
  }
  const file = record(value, "the file");
  const [octavia, kubernetes] = [record(file["octavia"], "octavia"), record(file["kubernetes"], "kubernetes")];
  const openstack = record(file["openstack"], "openstack");
  const clusterName = text(file["cluster-name"]);
  const subnetId = text(octavia["subnet-id"]);
  if (clusterName === undefined) throw invalid("cluster-name is missing");
  if (subnetId === undefined) throw invalid("octavia.subnet-id is missing");
  const said = text(octavia["members"]);
  const members = MEMBER_PLACES.find((place) => place === said);
  if (said !== undefined && members === undefined)
    throw invalid(`octavia.members is ${said}; it may be ${MEMBER_PLACES.join(" or ")}`);
  return {
    config: {
      clusterName,
      balancer: {
        provider: text(octavia["provider"]),
        subnetId,
        floatingNetworkId: text(octavia["floating-network-id"]),
        flavorId: text(octavia["flavor-id"]),
        serial: isTrue(octavia["provider-requires-serial-api-calls"]),
        ...(members === undefined ? {} : { members }),
      },
      manageSecurityGroups: isTrue(octavia["manage-security-groups"]),
    },
    kubernetes: { host: text(kubernetes["api-host"]), kubeconfig: text(kubernetes["kubeconfig"]) },
    cloudConf: cloudConfOf(openstack),
    warnings: unknownKeys(file, { octavia, kubernetes, openstack }),
  };
}

function cloudConfOf(openstack: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(openstack).flatMap(([key, value]) => {
    const said = text(value);
    if (said === undefined) return [];
    if (/[\r\n]/.test(said) || !/^[a-z-]+$/.test(key)) throw invalid(`openstack.${key} is not a line of text`);
    return `${RENAMED[key] ?? key} = "${said.replaceAll(/["\\]/g, "\\$&")}"`;
  });
  return `[Global]\n${lines.join("\n")}\n`;
}

function unknownKeys(
  file: Readonly<Record<string, unknown>>,
  sections: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): string[] {
  const top = Object.keys(file).filter((key) => !["cluster-name", "kubernetes", "openstack", "octavia"].includes(key));
  const inner = Object.entries(sections).flatMap(([name, section]) =>
    Object.keys(section)
      .filter((key) => KNOWN[name]?.includes(key) !== true)
      .map((key) => `${name}.${key}`),
  );
  return [...top, ...inner].map((key) => `unknown key ${key}`);
}

function record(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw invalid(`${what} is not a mapping`);
  return value as Readonly<Record<string, unknown>>;
}

/** Undefined for what is not given, or is empty. */
function text(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isTrue(value: unknown): boolean {
  return value === true || value === "true";
}

function invalid(why: string): InputError {
  return new InputError("INGRESS_CONFIG_INVALID", `The configuration file cannot be used: ${why}.`, {
    hint: "Fix it; docs/reference/octavia-ingress.md has its fields.",
  });
}
