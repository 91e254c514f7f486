/** What the real services' filters take and leave (truth/), held against the simulated cloud. */
import { afterAll, beforeAll, describe } from "vitest";
import { loadCloudsYaml } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { declareFilterSuite } from "./suite.ts";

describe("the simulated cloud filters as the real services do", () => {
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
  declareFilterSuite({ accounts });
});
