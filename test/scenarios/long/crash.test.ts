/**
 * Crash safety, chained: one demo in one project, whose process is killed at every third write call of each of its
 * lives, until none is left. The full matrix, each call of the demo in turn, is test/faults/crash.test.ts.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { killAt, loseAnswers } from "../../support/cut.ts";
import { demoInventory } from "../../support/reference.ts";
import {
  deleteDemo,
  demoGone,
  describeCall,
  isWrite,
  normalised,
  openStage,
  settled,
  type Stage,
} from "../../support/stage.ts";

// It runs processes.
vi.setConfig({ testTimeout: 300_000 });

/** Lives are short enough to be many, and long enough that this suite remains one of seconds. */
const stride = 3;
/** Far more than the demo has writes: a chain that long does not converge. */
const mostLives = 40;

describe("a demo whose process is killed again and again", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage?.close());

  test("becomes ready with exactly one of each resource", async () => {
    const cuts = await chain(stage, ["--demo"], async (system) => {
      await system.until(/demo ready: .*\n/);
      expect(await settled(stage, demoInventory)).toEqual(demoInventory);
    });
    console.log(`killed ${cuts.length} times while it was made: ${cuts.join(", ")}`);
    expect(cuts.length).toBeGreaterThan(3);
    expect(stage.inventory()).toEqual(demoInventory);
  });

  test("leaves nothing when its deletion is killed again and again", async () => {
    let asked = false;
    const cuts = await chain(stage, ["--log-level", "warn"], async (system) => {
      await system.until(/management API/);
      if (!asked) await deleteDemo(stage);
      asked = true;
      await demoGone(stage);
    });
    console.log(`killed ${cuts.length} times while it was deleted: ${cuts.join(", ")}`);
    expect(cuts.length).toBeGreaterThan(2);
    expect(stage.simulator.inventory("demo")).toEqual(stage.before);
  });
});

describe("a demo that loses the answer of every second write call", () => {
  test("becomes ready with exactly one of each resource, and leaves nothing when it is deleted", async () => {
    const stage = await openStage();
    try {
      let writes = 0;
      const lost = loseAnswers(stage, (call) => isWrite(call) && ++writes % 2 === 0);
      const system = stage.up("--demo");
      await system.until(/demo ready: .*\n/);
      expect(await settled(stage, demoInventory)).toEqual(demoInventory);
      await deleteDemo(stage);
      await demoGone(stage);
      expect(stage.inventory()).toEqual(normalised(stage.before));
      console.log(`lost the answers of ${lost.length} writes`);
      expect(lost.length).toBeGreaterThan(8);
    } finally {
      await stage.close();
    }
  });
});

/**
 * Lives of the system, each killed after its third write, until one makes `goal` hold without any. The answer: each
 * last call.
 */
async function chain(
  stage: Stage,
  args: readonly string[],
  goal: (system: ReturnType<Stage["up"]>) => Promise<void>,
): Promise<string[]> {
  const cuts: string[] = [];
  for (let life = 0; life < mostLives; life++) {
    const system = stage.up(...args);
    let writes = 0;
    const killed = killAt(stage, system, { when: "after", at: (call) => isWrite(call) && ++writes === stride });
    const reached = goal(system).then(
      () => "reached" as const,
      (error: unknown) => error,
    );
    const first = await Promise.race([reached, system.ended.then(() => "ended" as const)]);
    if (killed.call === undefined && first === "reached") {
      stage.simulator.setFaults(undefined);
      await system.stop();
      return cuts;
    }
    if (killed.call === undefined)
      throw first instanceof Error ? first : new Error(`it ended without being killed:\n${system.output()}`);
    await system.ended;
    cuts.push(describeCall(killed.call));
  }
  throw new Error(`not done after ${mostLives} lives; the last calls: ${cuts.join(", ")}`);
}
