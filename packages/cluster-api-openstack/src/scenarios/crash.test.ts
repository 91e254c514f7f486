import { describe, expect, it } from "vitest";
import { openInfrastructure } from "./world.ts";
import { demoSpec } from "../testing/objects.ts";

const world = openInfrastructure();

describe("the infrastructure provider that is killed", { timeout: 600_000 }, () => {
  it("has exactly one of each when it is killed at any call and loses the response, and leaves nothing after deletion", async () => {
    const before = world.inventory();
    const spec = { ...demoSpec, tags: ["blue"] };
    const uncut = world.start();
    const from = world.writes();
    await world.createCluster("cut-ref", spec);
    await world.clusterReady("cut-ref");
    await world.createMachine("cut-ref", "cut-ref-a");
    await world.machineReady("cut-ref-a");
    const made = world.inventory().map((line) => line.replaceAll("cut-ref", "cut"));
    const total = world.writes() - from;
    await world.remove("cut-ref", ["cut-ref-a"]);
    await uncut.kill();
    expect(world.inventory()).toEqual(before);
    expect(total).toBeGreaterThan(10);

    for (let cut = 1; cut <= total; cut++) {
      await world.wipe("cut", "cut-a");
      let seen = 0;
      let reached: () => void = () => {};
      const atCut = new Promise<void>((resolve) => (reached = resolve));
      world.simulator.setFaults((call) => {
        if (call.method === "GET" || call.service === "identity" || ++seen !== cut) return undefined;
        reached();
        return { when: cut % 2 === 0 ? "before" : "after", cut: true };
      });
      const first = world.start();
      await world.createCluster("cut", spec);
      await world.createMachine("cut", "cut-a");
      await atCut;
      await first.kill();
      world.simulator.setFaults(undefined);
      const second = world.start();
      await world.clusterReady("cut");
      await world.machineReady("cut-a");
      expect(world.inventory(), `after call ${cut}`).toEqual(made);
      await world.remove("cut", ["cut-a"]);
      await world.released("cut");
      await second.kill();
      expect(world.inventory(), `deleted after call ${cut}`).toEqual(before);
    }
  });

  it("leaves nothing when it is killed at any call of its deletion", async () => {
    const before = world.inventory();
    for (let cut = 1, done = false; !done; cut++) {
      await world.wipe("gone", "gone-a");
      const first = world.start();
      await world.createCluster("gone");
      await world.clusterReady("gone");
      await world.createMachine("gone", "gone-a");
      await world.machineReady("gone-a");
      let seen = 0;
      let reached: () => void = () => {};
      const atCut = new Promise<boolean>((resolve) => (reached = () => resolve(true)));
      world.simulator.setFaults((call) => {
        if (call.method === "GET" || call.service === "identity" || ++seen !== cut) return undefined;
        reached();
        return { when: cut % 2 === 0 ? "before" : "after", cut: true };
      });
      const removed = world.remove("gone", ["gone-a"]);
      done = !(await Promise.race([atCut, removed.then(() => false)]));
      await first.kill();
      world.simulator.setFaults(undefined);
      const second = world.start();
      await removed;
      await world.released("gone");
      await second.kill();
      expect(world.inventory(), `after call ${cut}`).toEqual(before);
      expect(cut).toBeLessThan(30);
    }
  });
});
