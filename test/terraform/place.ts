import { loadCloudsYaml } from "@causeway/openstack";
import { openPlace } from "../gophercloud/place.ts";
import type { TestRun, Variables } from "../gophercloud/run.ts";
import type { SuiteCloud } from "../support/suite-cloud.ts";
import { makeExpected } from "./devstack.ts";

export interface TerraformPlace {
  readonly accounts: Pick<TestRun, "admin" | "others">;
  readonly close: () => Promise<void>;
}

/** A project for the tests, and what they expect of the cloud itself. */
export async function openTerraformPlace(cloud: SuiteCloud): Promise<TerraformPlace> {
  const place = await openPlace(cloud, { suite: "terraform", cidr: "10.0.0.0/24" });
  const undo = await makeExpected(loadCloudsYaml({ cloud: cloud.cloud, text: cloud.text }));
  const { admin: given, others } = place.accounts;
  const extra: Variables = {
    OS_FLAVOR_ID: "99",
    OS_FLAVOR_NAME: "m1.acctest",
    OS_FLAVOR_ID_RESIZE: "98",
    OS_IMAGE_NAME: "cirros",
    OS_CONTAINER_INFRA_ENVIRONMENT: "true",
    OS_MAGNUM_IMAGE: "cirros",
    OS_MAGNUM_FLAVOR: "m1.acctest",
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
      // What a test left in the project may use what is undone.
      await place.close();
      await undo();
    },
  };
}
