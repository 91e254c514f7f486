/** What the SDK relies on in a cloud, held against the real one. test/contracts/openstack.test.ts holds the simulated one to the same cases. */
import { describe, test } from "vitest";
import { loadCloudsYaml } from "@causeway/openstack";
import { openstackContract, runContractCase } from "@causeway/openstack/testing";

describe("the real cloud keeps the contract", () => {
  const config = loadCloudsYaml({ cloud: process.env["OS_CLOUD"] ?? "devcloud" });

  for (const contractCase of openstackContract) {
    test(contractCase.name, { timeout: 180_000 }, () => runContractCase(contractCase, { config, prefix: "contract" }));
  }
});
