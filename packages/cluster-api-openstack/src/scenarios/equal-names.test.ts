/** Two management clusters create Clusters of one name in one project at the same moment. */
import { OpenStackCluster } from "@causeway/api";
import { describe, expect, it } from "vitest";
import { condition, namespace, openInfrastructure } from "./world.ts";

const one = openInfrastructure();
const two = openInfrastructure();
const name = "twin";

describe("two management clusters with a Cluster of one name in one project", { timeout: 480_000 }, () => {
  it("come to one cluster; the other says whose the names are, takes nothing of it when it is deleted, and follows it when that is", async () => {
    const before = one.inventory();
    await two.inside(one.simulator, async () => {
      const worlds = [one, two] as const;
      const alone = await inventoryOfOne();
      // Slow enough that neither lists the other's network before its own is there.
      one.simulator.setDelay("request.network", 40);
      const processes = worlds.map((world) => world.start());
      await Promise.all(worlds.map((world) => world.createCluster(name)));
      const stateOf = async ({ client }: (typeof worlds)[number]) => {
        const ready = condition(await client.find(OpenStackCluster, { namespace, name }), "Ready");
        return `${ready?.status} ${ready?.reason}`;
      };
      const states = () => Promise.all(worlds.map(stateOf));
      await one.until("one that is ready", async () => (await states()).sort().join() === "False NameInUse,True Ready");
      one.simulator.setDelay("request.network", 0);
      expect(one.inventory()).toEqual(alone);
      const [winner, loser] = (await stateOf(one)) === "True Ready" ? worlds : ([two, one] as const);
      await loser.remove(name);
      expect(one.inventory()).toEqual(alone);
      await loser.createAgain(name);
      await one.until("the names to be in use", async () => (await stateOf(loser)) === "False NameInUse");
      await winner.remove(name);
      await one.until("the other to follow", async () => (await stateOf(loser)) === "True Ready");
      expect(one.inventory()).toEqual(alone);
      await loser.remove(name);
      await Promise.all(processes.map((process) => process.kill()));
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
  const made = one.inventory().map((line) => line.replaceAll("solo", name));
  await one.remove("solo");
  await process.kill();
  return made.sort();
}
