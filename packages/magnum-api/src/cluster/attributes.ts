import type { MagnumCluster, MagnumTemplateAttributes } from "@causeway/api";

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
  readonly asks?: (value: NonNullable<Attributes[K]>) => boolean;
}

const used = (name: string): AttributeRule => ({ name, act: "used" });
const shown = (name: string): AttributeRule => ({ name, act: "shown" });
const noted = (name: string, asks?: (value: unknown) => boolean): AttributeRule => ({
  name,
  act: "noted",
  ...(asks ? { asks } : {}),
});

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
  httpProxy: noted("http_proxy"),
  httpsProxy: noted("https_proxy"),
  noProxy: noted("no_proxy"),
  volumeDriver: used("volume_driver"),
  registryEnabled: noted("registry_enabled", (value) => value === true),
  labels: used("labels"),
  tlsDisabled: used("tls_disabled"),
  public: used("public"),
  serverType: noted("server_type", (value) => value === "bm"),
  insecureRegistry: noted("insecure_registry"),
  dockerStorageDriver: noted("docker_storage_driver"),
  masterLBEnabled: used("master_lb_enabled"),
  floatingIPEnabled: noted("floating_ip_enabled", (value) => value === false),
  hidden: used("hidden"),
  tags: shown("tags"),
  driver: shown("driver"),
};

/**
 * Attributes of a cluster, its template's and its own, that it asked for and that have no effect, as clients name them.
 */
export function unusedAttributes({ spec }: MagnumCluster): readonly string[] {
  const { masterFlavorID, floatingIPEnabled } = spec;
  const given: Readonly<Record<string, unknown>> = { ...spec.template, masterFlavorID, floatingIPEnabled };
  return Object.entries(attributeRules).flatMap(([field, { name, act, asks }]) => {
    const value = given[field];
    if (act !== "noted" || value === undefined) return [];
    return asks === undefined || (asks as (value: unknown) => boolean)(value) ? [name] : [];
  });
}
