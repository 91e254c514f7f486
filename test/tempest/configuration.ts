import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import type { SuiteCloud } from "../support/suite-cloud.ts";

/** The cloud, and Octavia's provider. */
export interface TempestCloud extends SuiteCloud {
  readonly provider?: string | undefined;
}

type Sections = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>;

/**
 * tempest.conf for a cloud that has flavors m1.tiny and m1.small, two images and an external network "public", as
 * devcloud and the simulated cloud have. What neither cloud has is switched off, so that it is skipped on both.
 * Accounts are made by tempest itself.
 */
export async function tempestConf({ cloud, text, provider = "ovn" }: TempestCloud, folder: string): Promise<string> {
  const config = loadCloudsYaml({ cloud, text });
  if (config.auth.type !== "password" || config.auth.username === undefined) {
    throw new Error(`tempest needs an administrator's name and password; ${cloud} has none.`);
  }
  const client = connectCloud(config);
  try {
    const sections: Sections = {
      ...fixed(folder, provider),
      ...(await found(client)),
      auth: {
        use_dynamic_credentials: true,
        admin_username: config.auth.username,
        admin_password: config.auth.password,
        admin_project_name: "admin",
        admin_domain_name: "Default",
        tempest_roles: "member",
        create_isolated_networks: true,
      },
      identity: { uri_v3: config.authUrl, auth_version: "v3", region: client.region, v3_endpoint_type: "public" },
    };
    return rendered(sections);
  } finally {
    await client.close();
  }
}

function rendered(sections: Sections): string {
  const of = ([name, values]: [string, Sections[string]]) =>
    [`[${name}]`, ...Object.entries(values).map(([key, value]) => `${key} = ${String(value)}`), ""].join("\n");
  return Object.entries(sections).map(of).join("\n");
}

/** What has to be looked up in the cloud. */
async function found(cloud: Cloud): Promise<Sections> {
  const [flavors, images] = [await cloud.compute.flavors.all(), await cloud.image.images.all()];
  const [external] = await cloud.network.networks.all({ name: "public" });
  const flavor = (name: string) => flavors.find((f) => f.name === name)?.id ?? "";
  const image = (name: string) => images.find((i) => i.name === name)?.id ?? "";
  return {
    compute: {
      image_ref: image("cirros"),
      image_ref_alt: image("fedora-coreos"),
      flavor_ref: flavor("m1.tiny"),
      flavor_ref_alt: flavor("m1.small"),
      build_timeout: 60,
      min_compute_nodes: 2,
      max_microversion: "2.93",
      compute_volume_common_az: "nova",
    },
    "network-feature-enabled": {
      port_security: true,
      ipv6_subnet_attributes: true,
      // Otherwise tempest takes every extension it knows for granted.
      api_extensions: [...(await cloud.network.extensions())].sort().join(","),
    },
    network: { public_network_id: external?.id ?? "", floating_network_name: "public", build_timeout: 60 },
  };
}

function fixed(folder: string, provider: string): Sections {
  return {
    DEFAULT: { log_dir: folder, log_file: "tempest.log", debug: false },
    oslo_concurrency: { lock_path: `${folder}/lock` },
    "identity-feature-enabled": {
      application_credentials: true,
      access_rules: true,
      project_tags: true,
      trust: true,
      security_compliance: false,
    },
    "compute-feature-enabled": {
      console_output: false,
      vnc_console: false,
      live_migration: false,
      cold_migration: false,
      resize: true,
      metadata_service: false,
      config_drive: true,
      attach_encrypted_volume: false,
      change_password: false,
      rescue: true,
      shelve: true,
      suspend: true,
      pause: true,
      swap_volume: false,
    },
    volume: { build_timeout: 60, max_microversion: "3.70", storage_protocol: "fake", vendor_name: "Open Source" },
    "volume-feature-enabled": {
      backup: false,
      extend_attached_volume: true,
      manage_volume: false,
      manage_snapshot: false,
    },
    image: { build_timeout: 60 },
    "image-feature-enabled": { import_image: false },
    service_available: {
      cinder: true,
      glance: true,
      neutron: true,
      nova: true,
      swift: false,
      horizon: false,
      load_balancer: true,
      magnum: true,
    },
    magnum: {
      image_id: "cirros",
      nic_id: "public",
      flavor_id: "m1.small",
      master_flavor_id: "m1.small",
      copy_logs: false,
      // Minutes.
      cluster_creation_timeout: 4,
    },
    validation: { run_validation: false },
    load_balancer: {
      provider,
      enabled_provider_drivers:
        "amphora:The Octavia Amphora driver,octavia:Deprecated alias of the Octavia Amphora driver,ovn:Octavia OVN driver",
      test_with_noop: false,
      lb_build_interval: 1,
      lb_build_timeout: 90,
      build_interval: 1,
      check_interval: 1,
      check_timeout: 60,
      build_timeout: 60,
      test_with_ipv6: true,
    },
    "loadbalancer-feature-enabled": { terminated_tls_enabled: false },
  };
}
