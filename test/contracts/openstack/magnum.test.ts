/**
 * What Debian's Magnum returned to raw HTTP (truth/container-infra), held against the Magnum API on the simulated
 * cloud.
 */
import { afterAll, beforeAll, describe } from "vitest";
import { openStage, type Stage } from "@causeway/magnum-api/testing";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { containerInfraGroups } from "./cases/container-infra.ts";
import { magnumDifferences } from "./magnum-known.ts";
import { declareRawSuite } from "./suite.ts";

describe("the Magnum API answers as the real one does", () => {
  let stage: Stage;
  const of = (cloud: string) => loadCloudsYaml({ cloud, text: stage.simulator.cloudsYaml });
  beforeAll(async () => {
    stage = await openStage({ rate: { perSecond: 1_000, burst: 1_000 } });
    await register(of("simulator-admin"), stage.url);
  });
  afterAll(() => stage.close());
  const accounts = () => ({
    member: of("simulator"),
    admin: of("simulator-admin"),
    alt: of("simulator-alt"),
    reader: of("simulator-reader"),
  });
  declareRawSuite({ accounts, groups: containerInfraGroups, known: magnumDifferences });
});

async function register(admin: ReturnType<typeof loadCloudsYaml>, url: string): Promise<void> {
  const cloud = connectCloud(admin);
  try {
    const service = await cloud.identity.services.create({ type: "container-infra", name: "magnum" });
    const region_id = cloud.region;
    await cloud.identity.endpoints.create({ service_id: service.id, interface: "public", url: `${url}/v1`, region_id });
  } finally {
    await cloud.close();
  }
}
