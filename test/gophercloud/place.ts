import { randomBytes } from "node:crypto";
import { connectCloud, loadCloudsYaml, type Cloud, type CloudConfig } from "@causeway/openstack";
import type { SuiteCloud } from "../support/suite-cloud.ts";
import { sweep } from "./sweep.ts";
import type { TestRun, Variables } from "./run.ts";

export interface Place {
  readonly accounts: Pick<TestRun, "admin" | "others">;
  /** Deletes what the tests left, and the project. */
  readonly close: () => Promise<void>;
}

/**
 * A project of its own on a cloud that has flavors m1.tiny and m1.small, an image "cirros" and an external network
 * "public", as devcloud and the simulated cloud have: with a network for the servers, and the administrator in it, as
 * whom most of the tests run.
 */
export async function openPlace(
  { cloud: administrator, member: ordinary, text }: SuiteCloud,
  { suite = "gophercloud", cidr = "10.77.0.0/24" }: { readonly suite?: string; readonly cidr?: string } = {},
): Promise<Place> {
  const config = loadCloudsYaml({ cloud: administrator, text });
  const cloud = connectCloud(config);
  const project = `${suite}-${randomBytes(4).toString("hex")}`;
  const created = await cloud.identity.projects.create({ name: project });
  await grantAdministration(cloud, created.id);
  const inProject = { ...config, scope: { ...config.scope, projectName: project } };
  const own = connectCloud(inProject);
  const close = async (): Promise<void> => {
    await sweep(own, created.id);
    await own.close();
    await cloud.identity.projects.delete(created.id);
    await cloud.close();
  };
  try {
    await shareType(own);
    const chosen = { ...(await choices(own)), ...(await network(own, project, cidr)) };
    const admin = { ...chosen, ...login(inProject, own.region) };
    const member = { ...chosen, ...login(loadCloudsYaml({ cloud: ordinary, text }), own.region) };
    const others = new Map<string, Variables>([
      ["must be a non-admin to run this test", member],
      ["must use system scope to run this test", { ...admin, OS_SYSTEM_SCOPE: "all" }],
    ]);
    return { accounts: { admin, others }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A network for servers, shared with the member who has another project. */
async function network({ network: neutron }: Cloud, name: string, cidr: string): Promise<Variables> {
  const made = await neutron.networks.create({ name, shared: true });
  const subnet = await neutron.subnets.create({ name, network_id: made.id, ip_version: 4, cidr });
  return { OS_NETWORK_NAME: name, OS_NETWORK_ID: made.id, OS_SUBNET_ID: subnet.id };
}

/** The type that shares are made of. */
async function shareType({ sharedFileSystem: manila }: Cloud): Promise<void> {
  const name = "dhss_false";
  if ((await manila.shareTypes.all()).some((type) => type.name === name)) return;
  const extra_specs = { driver_handles_share_servers: "False", snapshot_support: "True" };
  await manila.shareTypes.create({ name, extra_specs });
}

async function grantAdministration(cloud: Cloud, project: string): Promise<void> {
  const user = await cloud.identity.currentUserId();
  const roles = await cloud.identity.roles.all();
  // Octavia and Barbican ask for roles of their own.
  for (const { id, name } of roles) {
    if (["admin", "load-balancer_admin", "creator"].includes(name))
      await cloud.identity.grant({ project, user, role: id });
  }
}

function login(config: CloudConfig, region: string): Variables {
  if (config.auth.type !== "password")
    throw new Error(`gophercloud needs a name and a password; ${config.name} has none.`);
  return {
    OS_AUTH_URL: config.authUrl,
    OS_USERNAME: config.auth.username ?? "",
    OS_PASSWORD: config.auth.password,
    OS_PROJECT_NAME: config.scope?.projectName ?? "",
    OS_DOMAIN_NAME: "Default",
    OS_REGION_NAME: region,
  };
}

/** What has to be looked up in the cloud. */
async function choices(cloud: Cloud): Promise<Variables> {
  const [flavors, images] = [await cloud.compute.flavors.all(), await cloud.image.images.all()];
  const [external] = await cloud.network.networks.all({ name: "public" });
  return {
    OS_IMAGE_ID: images.find((image) => image.name === "cirros")?.id ?? "",
    OS_MAGNUM_IMAGE_ID: images.find((image) => image.name === "cirros")?.id ?? "",
    OS_FLAVOR_ID: flavors.find((flavor) => flavor.name === "m1.tiny")?.id ?? "",
    OS_FLAVOR_ID_RESIZE: flavors.find((flavor) => flavor.name === "m1.small")?.id ?? "",
    OS_POOL_NAME: "public",
    OS_EXTGW_ID: external?.id ?? "",
    // What tests of that release are for; the simulated cloud was compared with it.
    OS_BRANCH: "stable/zed",
    OS_PORTFORWARDING_ENVIRONMENT: "true",
  };
}
