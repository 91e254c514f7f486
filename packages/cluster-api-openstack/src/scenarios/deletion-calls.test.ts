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
