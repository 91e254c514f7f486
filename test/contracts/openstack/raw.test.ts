/**
 * What the real services returned to raw HTTP (truth/), held against the simulated cloud. test/openstack/raw.test.ts
 * holds the real one to the same.
 */
import { afterAll, beforeAll, describe } from "vitest";
import { loadCloudsYaml } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { knownDifferences } from "./known.ts";
import { declareRawSuite } from "./suite.ts";

describe("the simulated cloud answers as the real services do", () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator();
  });
  afterAll(() => simulator.close());
  const of = (cloud: string) => loadCloudsYaml({ cloud, text: simulator.cloudsYaml });
  const accounts = () => ({
    member: of("simulator"),
    admin: of("simulator-admin"),
    alt: of("simulator-alt"),
    reader: of("simulator-reader"),
  });
  declareRawSuite({ accounts, known: knownDifferences });
});
