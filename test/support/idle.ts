/** What a demo at rest costs its cloud. */
import { OpenStackMachine } from "@causeway/api";
import type { CallRecord } from "@causeway/simulator";
import { eventually } from "./processes.ts";
import { isWrite, openStage, type Stage } from "./stage.ts";

export interface IdleCost {
  readonly workers: number;
  readonly calls: readonly CallRecord[];
  readonly writes: readonly CallRecord[];
}

/**
 * Brings up a demo of that many workers and returns when all is still: no call for two seconds, every worker a member.
 */
export async function restingDemo(workers: number, milliseconds: number): Promise<Stage> {
  const stage = await openStage();
  try {
    const system = stage.up("--demo", "--replicas", String(workers));
    await system.until(/demo ready: .*\n/, milliseconds);
    const client = stage.client();
    try {
      const members = () => stage.simulator.inventory("demo").filter((line) => line.startsWith("member ")).length;
      await eventually(milliseconds, async () => {
        const machines = (await client.list(OpenStackMachine)).items.length;
        const last = stage.simulator.calls.at(-1);
        return machines === workers && members() === workers && Date.now() - (last?.at ?? 0) > 2_000;
      });
    } finally {
      await client.close();
    }
    return stage;
  } catch (error) {
    await stage.close();
    throw error;
  }
}

/** Counts the calls of a resting demo for that long. */
export async function idleCost(stage: Stage, workers: number, milliseconds: number): Promise<IdleCost> {
  const from = stage.simulator.calls.length;
  await new Promise((done) => setTimeout(done, milliseconds));
  const calls = stage.simulator.calls.slice(from);
  return { workers, calls, writes: calls.filter(isWrite) };
}
