/**
 * What the SDK relies on in a cloud, held against the real one. test/contracts/openstack.test.ts holds the simulated
 * one to the same cases.
 */
import { describe, test } from "vitest";
import { loadCloudsYaml } from "@causeway/openstack";
import { openstackContract, runContractCase } from "@causeway/openstack/testing";

describe("the real cloud keeps the contract", () => {
  const name = process.env["OS_CLOUD"] ?? "devcloud";
  const config = loadCloudsYaml({ cloud: name });
  const admin = loadCloudsYaml({ cloud: `${name}-admin` });

  for (const contractCase of openstackContract) {
    test(contractCase.name, { timeout: 1_200_000 }, async ({ skip }) => {
      const missing = await runContractCase(contractCase, { config, admin, prefix: "contract" });
      if (missing !== undefined) skip(missing);
    });
  }
});
