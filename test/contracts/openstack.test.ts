/**
 * What the SDK relies on in a cloud, held against the simulated one. test/openstack/contract.test.ts holds the real one
 * to the same cases.
 */
import { afterAll, beforeAll, describe, test } from "vitest";
import { loadCloudsYaml, type CloudConfig } from "@causeway/openstack";
import { openstackContract, runContractCase } from "@causeway/openstack/testing";
import { startSimulator, type Simulator } from "@causeway/simulator";

describe("the simulated cloud keeps the contract", () => {
  let simulator: Simulator;
  let config: CloudConfig;
  let admin: CloudConfig;

  beforeAll(async () => {
    simulator = await startSimulator({
      delays: { "loadbalancer.amphora.create": 1000, "server.attach": 600, "server.detach": 600 },
    });
    config = loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml });
    admin = loadCloudsYaml({ cloud: "simulator-admin", text: simulator.cloudsYaml });
  });
  afterAll(() => simulator.close());

  for (const contractCase of openstackContract) {
    test(contractCase.name, { timeout: 60_000 }, async ({ skip }) => {
      const missing = await runContractCase(contractCase, { config, admin, templates: false });
      if (missing !== undefined) skip(missing);
    });
  }
});

test.for(openstackContract.filter((c) => c.needs?.extensions?.includes("extraroute-atomic") === true))(
  "$name, on a simulated cloud that has the extension",
  async (contractCase, { skip }) => {
    const simulator = await startSimulator({ extensions: ["extraroute-atomic"] });
    try {
      const config = loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml });
      const missing = await runContractCase(contractCase, { config });
      if (missing !== undefined) skip(missing);
    } finally {
      await simulator.close();
    }
  },
);
