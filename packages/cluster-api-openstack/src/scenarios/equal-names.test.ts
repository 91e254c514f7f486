/** Two management clusters create Clusters of one name in one project at the same moment. */
import { OpenStackCluster } from "@causeway/api";
import { VirtualClock } from "@causeway/foundation";
import { describe, expect, it } from "vitest";
import { condition, namespace, openInfrastructure } from "./world.ts";

const one = openInfrastructure();
const two = openInfrastructure();

describe("two management clusters with a Cluster of one name in one project", { timeout: 120_000 }, () => {
  it("come to one cluster, the other says why it waits, and each deletes what is its own", async () => {
    const before = one.inventory();
    await two.inside(one.simulator, async () => {
      const clock = new VirtualClock(Date.now());
      const worlds = [one, two];
      const alone = await inventoryOfOne();
      const from = one.simulator.calls.length;
      // Slow enough that neither lists the other's network before its own is there.
      one.simulator.setDelay("request.network", 40);
      const processes = worlds.map((world) => world.start({}, undefined, undefined, clock));
      await Promise.all(worlds.map((world) => world.createCluster("twin")));
      const states = async () =>
        Promise.all(
          worlds.map(async (world) => {
            const object = await world.client.get(OpenStackCluster, { namespace, name: "twin" });
            const ready = condition(object, "Ready");
            return `${ready?.status} ${ready?.reason}`;
          }),
        );
      await passUntil(clock, async () => (await states()).sort().join() === "False NameInUse,True Ready");
      const created = one.simulator.calls
        .slice(from)
        .filter(({ method, path }) => method === "POST" && path.endsWith("/networks"));
      expect(created).toHaveLength(2);
      await passUntil(clock, async () => JSON.stringify(one.inventory()) === JSON.stringify(alone));
      const winner = (await states()).findIndex((state) => state === "True Ready");
      const loser = worlds[1 - winner];
      await loser?.client.delete(OpenStackCluster, { namespace, name: "twin" });
      await passUntil(clock, async () => (await loser?.client.list(OpenStackCluster))?.items.length === 0);
      expect(one.inventory()).toEqual(alone);
      await worlds[winner]?.client.delete(OpenStackCluster, { namespace, name: "twin" });
      await passUntil(clock, async () => (await worlds[winner]?.client.list(OpenStackCluster))?.items.length === 0);
      await Promise.all(processes.map((process) => process.kill()));
      one.simulator.setDelay("request.network", 0);
    });
    expect(one.inventory()).toEqual(before);
  });
});

/** What the project has with one such cluster. */
async function inventoryOfOne(): Promise<string[]> {
  const process = one.start();
  await one.createCluster("solo");
  await one.clusterReady("solo");
  await one.rested();
  const made = one.inventory().map((line) => line.replaceAll("solo", "twin"));
  await one.remove("solo");
  await process.kill();
  return made.sort();
}

async function passUntil(clock: VirtualClock, check: () => Promise<boolean>): Promise<void> {
  const begun = clock.now();
  while (!(await check())) {
    if (clock.now() - begun > 30 * 60_000) throw new Error("waited in vain");
    await new Promise((resolve) => setTimeout(resolve, 60));
    await clock.advance(1_000);
  }
}
