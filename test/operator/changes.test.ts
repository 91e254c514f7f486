/** Changes of an OpenStackDeployment that is Ready, on a simulated cluster. */
import { afterEach, describe, expect, test } from "vitest";
import { OperatorWorld } from "./world.ts";

let world: OperatorWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async (computes?: number) => (world = await OperatorWorld.start(computes));

describe("an OpenStackDeployment that is Ready", () => {
  test("with 300 compute nodes writes nothing when there is nothing to do", async () => {
    const w = await start(300);
    w.runOperator();
    await w.createDeployment();
    await w.whenReady();
    await w.settle();
    expect((await w.component("nova-compute"))?.step).toBe("300 of 300 nodes run it");
    const count = w.writes.length;
    const before = process.cpuUsage();
    await w.touchDeployment();
    await w.pass(10_000);
    await w.settle();
    const { user, system } = process.cpuUsage(before);
    expect(w.writes.slice(count)).toEqual([]);
    console.log(
      `reconciles with nothing to do: ${Math.round((user + system) / 1_000)} ms of CPU with the whole simulated cluster`,
    );
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
