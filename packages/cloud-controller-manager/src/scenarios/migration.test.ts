import { expect, test } from "vitest";
import { ownWorlds } from "./own-world.ts";

const start = ownWorlds();

test("a load balancer of the in-tree provider is known by its old name, served on, and given back with its Service", async () => {
  const { w, cloud } = await start({ prefix: "m", servers: 2, timeout: 60_000 });
  const service = await w.createService("web");
  const name = `a${service.metadata.uid?.replaceAll("-", "")}`.slice(0, 32);
  const { loadBalancing } = w.cloud;
  const old = await loadBalancing.loadBalancers.create({
    name,
    vip_subnet_id: w.infrastructure.subnet.id,
    provider: "amphora",
    listeners: [
      {
        name: `listener_${name}_0`,
        protocol: "TCP",
        protocol_port: 80,
        default_pool: { name: `pool_${name}_0`, protocol: "TCP", lb_algorithm: "ROUND_ROBIN" },
      },
    ],
  });
  w.run({ provider: "amphora" });
  await w.joinAll();
  await w.served("web");
  const all = await loadBalancing.loadBalancers.all();
  expect(all.map((lb) => lb.id)).toEqual([old.id]);
  await w.until("its members", async () => {
    const [pool] = await loadBalancing.pools.all({ loadbalancer_id: old.id });
    return (await loadBalancing.members(pool?.id ?? "").all()).length === 2 ? true : undefined;
  });
  expect(cloud.calls.filter((call) => call.method === "POST" && call.path.endsWith("/loadbalancers"))).toHaveLength(1);
  await w.remove("web");
  expect(await loadBalancing.loadBalancers.all()).toEqual([]);
});
