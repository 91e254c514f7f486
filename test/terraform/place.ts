import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { openPlace } from "../gophercloud/place.ts";
import type { TestRun, Variables } from "../gophercloud/run.ts";
import type { SuiteCloud } from "../support/suite-cloud.ts";

export interface TerraformPlace {
  readonly accounts: Pick<TestRun, "admin" | "others">;
  readonly close: () => Promise<void>;
}

const flavors = [
  { id: "99", name: "m1.acctest", ram: 512, disk: 10, vcpus: 1, "OS-FLV-EXT-DATA:ephemeral": 10 },
  { id: "98", name: "m1.resize", ram: 512, disk: 11, vcpus: 1, "OS-FLV-EXT-DATA:ephemeral": 10 },
];

/** A project for the tests, and what upstream's own script makes beside it: two flavors, and one of load balancers. */
export async function openTerraformPlace(cloud: SuiteCloud): Promise<TerraformPlace> {
  const place = await openPlace(cloud, { suite: "terraform", cidr: "10.0.0.0/24" });
  const undo = await prepare(cloud);
  const { admin: given, others } = place.accounts;
  const extra: Variables = {
    OS_FLAVOR_ID: "99",
    OS_FLAVOR_NAME: "m1.acctest",
    OS_FLAVOR_ID_RESIZE: "98",
    OS_IMAGE_NAME: "cirros",
    OS_DOMAIN_ID: "default",
    OS_LB_ENVIRONMENT: "true",
    OS_LB_FLAVOR_NAME: "lb.acctest",
    OS_SFS_ENVIRONMENT: "true",
    OS_KEYMANAGER_ENVIRONMENT: "true",
    OS_PORT_FORWARDING_ENVIRONMENT: "true",
    OS_HYPERVISOR_HOSTNAME: "compute-1",
    OS_VOLUME_TYPE_ENVIRONMENT: "true",
  };
  const { OS_DOMAIN_NAME: _domain, ...admin } = given;
  const member = others.get("must be a non-admin to run this test") ?? admin;
  const { OS_DOMAIN_NAME: _other, ...ordinary } = member;
  return {
    accounts: {
      admin: { ...admin, ...extra },
      others: new Map([["Skipping test because it requires the demo (non-admin) user", { ...ordinary, ...extra }]]),
    },
    close: async () => {
      await undo();
      await place.close();
    },
  };
}

/** Makes what upstream's script makes; the result deletes it. */
async function prepare({ cloud: name, text }: SuiteCloud): Promise<() => Promise<void>> {
  const cloud = connectCloud(loadCloudsYaml({ cloud: name, text }));
  const { compute, loadBalancing } = cloud;
  for (const flavor of flavors) await compute.flavors.create(flavor);
  const profile = await loadBalancing.flavorProfiles.create({
    name: "lb.acctest",
    provider_name: "amphora",
    flavor_data: JSON.stringify({ loadbalancer_topology: "SINGLE" }),
  });
  const made = await loadBalancing.flavors.create({ name: "lb.acctest", flavor_profile_id: profile.id, enabled: true });
  return async () => {
    for (const { id } of flavors) await compute.flavors.delete(id);
    await loadBalancing.flavors.delete(made.id);
    await loadBalancing.flavorProfiles.delete(profile.id);
    await cloud.close();
  };
}
