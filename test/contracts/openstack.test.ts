/** What the SDK relies on in a cloud, held against the simulated one. test/openstack/contract.test.ts holds the real one to the same cases. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { loadCloudsYaml, type CloudConfig } from "@causeway/openstack";
import { openstackContract, runContractCase } from "@causeway/openstack/testing";
import { startSimulator, type Simulator } from "@causeway/simulator";

/** Where the simulated cloud falls short of the contract, and why. */
const lacking: Readonly<Record<string, string>> = {
  "a project is made, changed, tagged and deleted, and its name is taken while it is there": "accounts are read only",
  "a user without a role gets no token for the project, and with one does": "accounts are read only",
  "an application credential speaks for its user in its project until it is deleted": "accounts are read only",
  "a trust lets one user act for another in a project": "accounts are read only",
  "users, groups, roles and domains are made, found by name and deleted": "accounts are read only",
  "a volume's attachment is reserved, given a connector and removed": "there is no attachments API",
  "an image is described, filled, read back, patched, tagged and deleted": "images are read only",
};

describe("the simulated cloud keeps the contract", () => {
  let simulator: Simulator;
  let config: CloudConfig;
  let admin: CloudConfig;

  beforeAll(async () => {
    simulator = await startSimulator({ delays: { "loadbalancer.amphora.create": 1000 } });
    config = loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml });
    admin = loadCloudsYaml({ cloud: "simulator-admin", text: simulator.cloudsYaml });
  });
  afterAll(() => simulator.close());

  for (const contractCase of openstackContract) {
    test(contractCase.name, { timeout: 60_000 }, async ({ skip }) => {
      const reason = lacking[contractCase.name];
      if (reason !== undefined) skip(reason);
      const missing = await runContractCase(contractCase, { config, admin });
      if (missing !== undefined) skip(missing);
    });
  }
});
