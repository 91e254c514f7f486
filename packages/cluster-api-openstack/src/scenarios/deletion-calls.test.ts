import { expect, it } from "vitest";
import { demoSpec } from "../testing/objects.ts";
import { openInfrastructure } from "./world.ts";

const world = openInfrastructure();

it("the OpenStack provider deletes a cluster with a load balancer and lists its ports twice at most", async () => {
  const before = world.inventory();
  const creator = world.start();
  await world.createCluster("counted", { ...demoSpec, apiServer: { managedLoadBalancer: { enabled: true } } });
  await world.clusterReady("counted");
  await creator.kill();
  // This one lists the port of the virtual IP, which Octavia deletes.
  const remover = world.start({});
  await world.until("the lists of the start", () =>
    Promise.resolve(world.simulator.calls.some(({ path }) => path.includes("/lbaas/listeners"))),
  );
  await world.rested();
  const from = world.simulator.calls.length;
  await world.remove("counted");
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const calls = world.simulator.calls.slice(from);
  await remover.kill();
  expect(world.inventory()).toEqual(before);
  const lists = calls.filter(({ method, path }) => method === "GET" && path.includes("/v2.0/ports"));
  expect(lists.length).toBeLessThanOrEqual(2);
});

it("the OpenStack provider removes each finalizer once and writes to no object that is gone", async () => {
  const provider = world.start();
  const machines = ["gone-0", "gone-1", "gone-2", "gone-3"];
  await world.createCluster("gone");
  for (const machine of machines) await world.createMachine("gone", machine);
  for (const machine of machines) await world.machineReady(machine);
  await world.remove("gone", machines);
  await world.rested();
  await provider.kill();
  expect(await writesToNothing()).toEqual([]);
});

/** The API server's counters of writes that were responded to with 404. */
async function writesToNothing(): Promise<string[]> {
  const metrics = String(await world.client.request("GET", "/metrics"));
  expect(metrics).toContain("apiserver_request_total{");
  const isWrite = (line: string) => /verb="(APPLY|PATCH|PUT)"/.test(line) && line.includes('code="404"');
  return metrics.split("\n").filter((line) => line.startsWith("apiserver_request_total{") && isWrite(line));
}
