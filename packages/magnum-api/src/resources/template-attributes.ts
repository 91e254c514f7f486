import type { MagnumClusterTemplate, MagnumTemplateAttributes } from "@causeway/api";
import type { Fields, Values } from "../wire/fields.ts";
import { instant, linksOf, type Call } from "../call/call.ts";

const name = { type: "text", min: 1, max: 255 } as const;
const flag = { type: "bool" } as const;
const given = { type: "text", readonly: true } as const;

/** Attributes of a template's body. */
export const templateFields: Fields = {
  uuid: given,
  name,
  coe: { type: "text", oneOf: ["kubernetes"] },
  image_id: { ...name, mandatory: true },
  flavor_id: name,
  master_flavor_id: name,
  dns_nameserver: { type: "dns", max: 1024 },
  keypair_id: name,
  external_network_id: name,
  fixed_network: name,
  fixed_subnet: name,
  network_driver: name,
  apiserver_port: { type: "int", min: 1024, max: 65535 },
  docker_volume_size: { type: "int", min: 1 },
  cluster_distro: name,
  links: { type: "texts", readonly: true },
  http_proxy: name,
  https_proxy: name,
  no_proxy: name,
  volume_driver: name,
  registry_enabled: flag,
  labels: { type: "labels" },
  tls_disabled: flag,
  public: flag,
  server_type: { type: "text", oneOf: ["bm", "vm"] },
  insecure_registry: name,
  docker_storage_driver: name,
  master_lb_enabled: flag,
  floating_ip_enabled: flag,
  project_id: given,
  user_id: given,
  hidden: flag,
  tags: { type: "text", min: 0, max: 255 },
  driver: name,
  created_at: given,
  updated_at: given,
};

/** Attribute of the API → field of the object. */
const spelled = {
  coe: "coe",
  image_id: "imageID",
  flavor_id: "flavorID",
  master_flavor_id: "masterFlavorID",
  dns_nameserver: "dnsNameserver",
  keypair_id: "keypairID",
  external_network_id: "externalNetworkID",
  fixed_network: "fixedNetwork",
  fixed_subnet: "fixedSubnet",
  network_driver: "networkDriver",
  apiserver_port: "apiserverPort",
  docker_volume_size: "dockerVolumeSize",
  cluster_distro: "clusterDistro",
  http_proxy: "httpProxy",
  https_proxy: "httpsProxy",
  no_proxy: "noProxy",
  volume_driver: "volumeDriver",
  registry_enabled: "registryEnabled",
  labels: "labels",
  tls_disabled: "tlsDisabled",
  public: "public",
  server_type: "serverType",
  insecure_registry: "insecureRegistry",
  docker_storage_driver: "dockerStorageDriver",
  master_lb_enabled: "masterLBEnabled",
  floating_ip_enabled: "floatingIPEnabled",
  hidden: "hidden",
  tags: "tags",
  driver: "driver",
} as const satisfies Readonly<Record<string, keyof MagnumTemplateAttributes>>;

const defaults = {
  coe: "kubernetes",
  registryEnabled: false,
  labels: {},
  tlsDisabled: false,
  public: false,
  serverType: "vm",
  masterLBEnabled: false,
  floatingIPEnabled: true,
  hidden: false,
} as const;

/** The object's attributes, from values that were checked. */
export function attributesOf(values: Values): MagnumTemplateAttributes {
  const entries = Object.entries(spelled).flatMap(([from, to]) =>
    values[from] === undefined || values[from] === null ? [] : [[to, values[from]]],
  );
  return { ...defaults, ...Object.fromEntries(entries) } as MagnumTemplateAttributes;
}

/** A template as a patch sees it: every attribute, null where it has none. */
export function templateDocument({ spec }: MagnumClusterTemplate): Readonly<Record<string, unknown>> {
  const attributes = Object.entries(spelled).map(([name, field]) => [name, spec.template[field] ?? null]);
  return {
    name: spec.name,
    ...Object.fromEntries(attributes),
    uuid: spec.uuid,
    project_id: spec.projectID,
    user_id: spec.userID,
  };
}

/** What templates can be sorted by: each attribute with one value. */
export const templateSortKeys: Readonly<
  Record<string, (template: MagnumClusterTemplate) => string | number | boolean | undefined>
> = Object.fromEntries(
  Object.entries(spelled).flatMap(([name, field]) =>
    field === "labels" ? [] : [[name, ({ spec }: MagnumClusterTemplate) => spec.template[field]]],
  ),
);

/** A template as clients see it. */
export function templateView(
  template: MagnumClusterTemplate,
  call: Pick<Call, "origin" | "minor">,
): Readonly<Record<string, unknown>> {
  const { spec, metadata } = template;
  const { driver, ...document } = templateDocument(template);
  return {
    ...document,
    // Releases that end at 1.10 have no drivers to choose from.
    ...(call.minor > 10 ? { driver } : {}),
    links: linksOf(call, `clustertemplates/${spec.uuid}`),
    created_at: instant(metadata.creationTimestamp),
    updated_at: instant(spec.updatedAt),
  };
}
