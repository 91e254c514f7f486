/**
 * Clusters of the Magnum API of `causeway up` as resources of Terraform's provider, unchanged: after each apply another
 * plan finds nothing to change. Without Terraform, or Go for the provider, the cases are skipped.
 */
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { OpenedCloud } from "../../support/suite-cloud.ts";
import { openSystemCloud } from "../../support/system-cloud.ts";
import { openTerraform, terraformTools, type Terraform } from "../../support/terraform.ts";

const MINUTE = 60_000;
vi.setConfig({ testTimeout: 10 * MINUTE, hookTimeout: 15 * MINUTE });

const tools = await terraformTools();
if ("reason" in tools) console.log(`skipped: ${tools.reason}`);

const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f x";

const common = `
data "openstack_networking_network_v2" "public" {
  name = "public"
}
resource "openstack_compute_keypair_v2" "key" {
  name       = "terraform"
  public_key = "${KEY}"
}
resource "openstack_containerinfra_clustertemplate_v1" "small" {
  name                  = "terraform"
  coe                   = "kubernetes"
  image                 = "cirros"
  flavor                = "m1.small"
  master_flavor         = "m1.small"
  external_network_id   = data.openstack_networking_network_v2.public.id
  dns_nameserver        = "1.1.1.1"
  network_driver        = "flannel"
  volume_driver         = "cinder"
  docker_storage_driver = "overlay2"
  server_type           = "vm"
  master_lb_enabled     = true
  floating_ip_enabled   = false
  labels = {
    kube_tag             = "v1.34.0"
    auto_healing_enabled = "true"
  }
}
`;

const cluster = (more: string): string => `${common}
resource "openstack_containerinfra_cluster_v1" "one" {
  name                = "terraform"
  cluster_template_id = openstack_containerinfra_clustertemplate_v1.small.id
  keypair             = openstack_compute_keypair_v2.key.name
  master_count        = 1
  create_timeout      = 30
${more}}
`;

const group = `
resource "openstack_containerinfra_nodegroup_v1" "extra" {
  name           = "extra"
  cluster_id     = openstack_containerinfra_cluster_v1.one.id
  node_count     = 1
  min_node_count = 1
  max_node_count = 3
  role           = "worker"
}
`;

describe.skipIf("reason" in tools)("terraform", () => {
  let opened: OpenedCloud;
  let terraform: Terraform;
  let cloud: Cloud;
  beforeAll(async () => {
    if ("reason" in tools) return;
    opened = await openSystemCloud();
    const { text, member } = opened.cloud;
    terraform = openTerraform(tools, { cloudsYaml: text, cloud: member });
    cloud = connectCloud(loadCloudsYaml({ cloud: member, text }));
  });
  afterAll(async () => {
    terraform?.close();
    await cloud?.close();
    await opened?.close();
  });

  const clusters = async () =>
    (await cloud.containerInfrastructure.clusters.all({})).map(({ name, status }) => [name, status]);

  it("creates a template and a cluster, of which another plan changes nothing", async () => {
    const resources = cluster("  node_count = 2\n");
    await terraform.apply(resources);
    expect(await clusters()).toEqual([["terraform", "CREATE_COMPLETE"]]);
    expect(await terraform.plan(resources)).toBe("");
  });

  it("resizes the cluster, after which a plan changes nothing", async () => {
    const resources = cluster("  node_count = 1\n");
    expect(await terraform.plan(resources)).toContain("0 to add, 1 to change, 0 to destroy");
    await terraform.apply(resources);
    expect(await clusters()).toEqual([["terraform", "UPDATE_COMPLETE"]]);
    expect(await terraform.plan(resources)).toBe("");
  });

  it("creates a node group, after which a plan changes nothing", async () => {
    const resources = `${cluster("  node_count = 1\n")}${group}`;
    await terraform.apply(resources);
    expect(await clusters()).toEqual([["terraform", "UPDATE_COMPLETE"]]);
    expect(await terraform.plan(resources)).toBe("");
  });

  it("destroys all of it", async () => {
    await terraform.apply("");
    expect(await clusters()).toEqual([]);
  });
});
