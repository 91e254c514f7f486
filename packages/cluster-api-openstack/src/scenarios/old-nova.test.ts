import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { demoSpec } from "../testing/objects.ts";
import { openInfrastructure } from "./world.ts";

const world = openInfrastructure();

/** The user agent of the test's own calls, which are of the newest version. */
const OWN = "bystander";

/**
 * Its version document says less than it knows: a client that reads it sends what a Nova of that release understands.
 */
function isOf(newest: string): void {
  const version = { id: "v2.1", status: "CURRENT", version: newest, min_version: "2.1" };
  world.simulator.setFaults(({ service, path, userAgent }) =>
    service === "compute" && !userAgent.startsWith(OWN) && /\/v2\.1\/?$/.test(path)
      ? { when: "before", status: 200, body: { version } }
      : undefined,
  );
}

describe("a machine with tags on a Nova that is older than tags", { timeout: 300_000 }, () => {
  let cloud: Cloud;
  beforeAll(() => {
    cloud = connectCloud(loadCloudsYaml({ text: world.simulator.cloudsYaml, cloud: "simulator" }), { userAgent: OWN });
  });
  afterAll(() => cloud.close());

  const releases: readonly [title: string, newest: string, tags: readonly string[]][] = [
    ["before 2.26 is created without tags", "2.25", []],
    ["before 2.52 is created without tags and gets them afterwards", "2.51", ["blue", "red"]],
    ["of 2.52 is created with tags", "2.52", ["blue", "red"]],
  ];
  it.each(releases)("%s, and is deleted without a trace", async (_title, newest, tags) => {
    const before = world.inventory();
    const name = `nova-${newest.replace(".", "-")}`;
    const posted = (): number =>
      world.simulator.calls.filter((call) => call.method === "POST" && call.path.endsWith("/servers")).length;
    const first = posted();
    const service = cloud.compute.servers;
    isOf(newest);
    const process = world.start();
    try {
      await world.createCluster(name, { ...demoSpec, tags: ["blue"] });
      await world.clusterReady(name);
      await world.createMachine(name, `${name}-a`, { tags: ["red"] });
      const { status } = await world.machineReady(`${name}-a`);
      await world.until("the tags", async () => {
        const server = await service.get(status?.instanceID ?? "");
        return JSON.stringify([...(server.tags ?? [])].sort()) === JSON.stringify(tags);
      });
      expect(posted() - first).toBe(1);
      await world.remove(name, [`${name}-a`]);
      expect(world.inventory()).toEqual(before);
    } finally {
      await process.kill();
      world.simulator.setFaults(undefined);
    }
  });
});
