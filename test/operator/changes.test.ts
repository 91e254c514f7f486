/** Changes of an OpenStackDeployment that is Ready, on a simulated cluster. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test } from "vitest";
import { OperatorWorld } from "./world.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const ROUNDS = 10;
/** Of the processor, for a reconcile with nothing to do. */
const MOST_MILLISECONDS = 2_000;
/** Of the heap, with the caches of its informers. */
const MOST_MEBIBYTES = 64;

let world: OperatorWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async (computes?: number) => (world = await OperatorWorld.start(computes));

describe("an OpenStackDeployment that is Ready", () => {
  test("with 300 compute nodes writes nothing when there is nothing to do, in little time and memory", async () => {
    const w = await start(300);
    const kill = w.runOperator();
    await w.createDeployment();
    await w.whenReady();
    await w.settle();
    expect((await w.component("nova-compute"))?.step).toBe("300 of 300 nodes run it");
    await kill();
    const heap = (): number => {
      collect();
      return process.memoryUsage().heapUsed / 1_048_576;
    };
    const without = heap();
    const count = w.writes.length;
    w.runOperator();
    await w.settle();
    const mebibytes = heap() - without;
    /** Processor time of the whole simulated cluster, in milliseconds. */
    const spend = async (touches: boolean): Promise<number> => {
      const before = process.cpuUsage();
      for (let round = 0; round < ROUNDS; round++) {
        if (touches) await w.annotate(String(round));
        await w.pass(3_000);
      }
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    };
    const idle = await spend(false);
    const each = ((await spend(true)) - idle) / ROUNDS;
    expect(w.writes.slice(count)).toEqual([]);
    expect(each).toBeLessThan(MOST_MILLISECONDS);
    expect(mebibytes).toBeLessThan(MOST_MEBIBYTES);
    console.log(`each reconcile with nothing to do: ${Math.round(each)} ms of CPU; heap ${mebibytes.toFixed(1)} MiB`);
  });

  test("refuses an unknown option with the nearest right one, and changes nothing", async () => {
    const w = await start();
    w.runOperator();
    await w.createDeployment();
    await w.whenReady();
    await w.settle();
    const option = (name: string, value: string) => ({ section: "DEFAULT", option: name, value });
    const count = w.writes.length;
    await w.change({ services: [{ name: "glance", configuration: [option("debugg", "true")] }] });
    const refused = await w.until("a refusal", async () => {
      const found = await w.condition("ConfigurationValid");
      return found?.status === "False" && found;
    });
    expect(refused.message).toContain("did you mean debug?");
    expect(w.writes.slice(count).filter(({ verb }) => verb !== "apply status")).toEqual([]);
    await w.until("a warning", async () => (await w.events()).some((text) => /^UnknownOption: .*debugg/.test(text)));
  });
});
