import type { MagnumCluster, MagnumTemplateAttributes } from "@causeway/api";
import { isProxy, isProxyBypass } from "./proxies.ts";
import { isRegistry } from "./registry.ts";

type Attributes = MagnumTemplateAttributes;

/** What becomes of an attribute of a template. */
export interface AttributeRule<K extends keyof Attributes = keyof Attributes> {
  /** As clients name it. */
  readonly name: string;
  /**
   * Used: it has an effect, or is refused where it can have none. Shown: it says something about the template only.
   * Noted: it is accepted without effect, and `status_reason` of a complete cluster names it.
   */
  readonly act: "used" | "shown" | "noted";
  /** Of a noted one: does this value ask for something? Undefined: each that is given does. */
  readonly asks?: (value: NonNullable<Attributes[K]>, spec: MagnumCluster["spec"]) => boolean;
}

const used = (name: string): AttributeRule => ({ name, act: "used" });
const shown = (name: string): AttributeRule => ({ name, act: "shown" });
const noted = (name: string, asks?: (value: unknown, spec: MagnumCluster["spec"]) => boolean): AttributeRule => ({
  name,
  act: "noted",
  ...(asks ? { asks } : {}),
});

/** Used by clusters whose nodes have proxies, where a node can use the value. */
const byNodes = (name: string, isUsable: (value: string) => boolean): AttributeRule =>
  noted(name, (value, { nodeProxies }) => nodeProxies !== true || !isUsable(String(value)));

/** Every attribute that a template can have: none is ignored in silence. */
export const attributeRules: { readonly [K in keyof Required<Attributes>]: AttributeRule<K> } = {
  coe: used("coe"),
  imageID: used("image_id"),
  flavorID: used("flavor_id"),
  masterFlavorID: noted("master_flavor_id"),
  dnsNameserver: used("dns_nameserver"),
  keypairID: used("keypair_id"),
  externalNetworkID: used("external_network_id"),
  fixedNetwork: used("fixed_network"),
  fixedSubnet: used("fixed_subnet"),
  networkDriver: used("network_driver"),
  apiserverPort: used("apiserver_port"),
  dockerVolumeSize: used("docker_volume_size"),
  clusterDistro: shown("cluster_distro"),
  httpProxy: byNodes("http_proxy", isProxy),
  httpsProxy: byNodes("https_proxy", isProxy),
  noProxy: byNodes("no_proxy", isProxyBypass),
  volumeDriver: used("volume_driver"),
  registryEnabled: noted("registry_enabled", (value) => value === true),
  labels: used("labels"),
  tlsDisabled: used("tls_disabled"),
  public: used("public"),
  serverType: noted("server_type", (value) => value === "bm"),
  // Used by clusters whose nodes have it, where a node can use the value.
  insecureRegistry: noted(
    "insecure_registry",
    (value, { nodeRegistry }) => nodeRegistry !== true || !isRegistry(String(value)),
  ),
  dockerStorageDriver: noted("docker_storage_driver"),
  masterLBEnabled: used("master_lb_enabled"),
  floatingIPEnabled: noted("floating_ip_enabled", (value) => value === false),
  hidden: used("hidden"),
  tags: shown("tags"),
  driver: shown("driver"),
};

/**
 * Attributes of a cluster, its template's and its own, that it requests and that have no effect, as clients name them.
 */
export function unusedAttributes({ spec }: MagnumCluster): readonly string[] {
  const { masterFlavorID, floatingIPEnabled } = spec;
  const given: Readonly<Record<string, unknown>> = { ...spec.template, masterFlavorID, floatingIPEnabled };
  return Object.entries(attributeRules).flatMap(([field, { name, act, asks }]) => {
    const value = given[field];
    if (act !== "noted" || value === undefined) return [];
    return asks === undefined || (asks as (value: unknown, of: typeof spec) => boolean)(value, spec) ? [name] : [];
  });
}
