import { describe, it } from "vitest";
import { loadCloudsYaml } from "./config/clouds-yaml.ts";
import { runContractCase } from "./contract/case.ts";
import { openstackContract } from "./real-cloud.contract.ts";

const cloud = process.env["CAUSEWAY_CONTRACT_CLOUD"];

describe("the contract with a real cloud", () => {
  if (cloud === undefined) {
    it.skip("is skipped: CAUSEWAY_CONTRACT_CLOUD names no entry of clouds.yaml", () => {});
    return;
  }
  const config = loadCloudsYaml({ cloud });
  for (const contractCase of openstackContract) {
    it(contractCase.name, { timeout: 180_000 }, () => runContractCase(contractCase, { config }));
  }
});
