import { expect, test } from "vitest";
import { internal, os, pause, setStage, tcp } from "./stage.ts";

const stage = setStage(2);

test.each([
  ["amphora", "ovn"],
  ["ovn", "amphora"],
])(
  "a Service that moves from %s to %s keeps its floating IP, and nothing of the old load balancer is left",
  async (from, to) => {
    const { w, run, writes, hears } = stage();
    run({ provider: from });
    await w.createService("web", { ports: [tcp(80), tcp(443)] });
    const before = (await w.served("web")).status?.loadBalancer?.ingress;
    const [old] = await w.loadBalancers();
    await pause(100);
    writes();
    await w.change("web", { metadata: { annotations: { [os("provider")]: to } } });
    const now = await w.settled("the other alone", (lb) => lb.id !== old?.id);
    expect([now.provider, now.name]).toEqual([to, "kube_service_c_default_web"]);
    expect(writes()).toEqual([
      "PUT /loadbalancers/ID",
      "POST /loadbalancers",
      "PUT /floatingips/ID",
      "DELETE /loadbalancers/ID",
    ]);
    const service = await w.until("its id", async () => {
      const found = await w.service("web");
      return found.metadata.annotations?.[os("load-balancer-id")] === now.id ? found : undefined;
    });
    expect(service.status?.loadBalancer?.ingress).toEqual(before);
    expect((await w.cloud.network.floatingIps.all())[0]?.port_id).toBe(now.vip_port_id);
    expect(await hears("web", "LoadBalancerProviderChanged")).toMatch(/same floating IP/);
  },
);

test("a Service that goes while its load balancer is being replaced leaves nothing", async () => {
  const { w, cloud, run } = stage();
  run({ provider: "amphora" });
  await w.createService("web");
  await w.served("web");
  cloud.setDelay("loadbalancer.ovn.create", 1_500);
  await w.change("web", { metadata: { annotations: { [os("provider")]: "ovn" } } });
  await w.until("both", async () => ((await w.loadBalancers()).length === 2 ? true : undefined));
  await w.remove("web");
  await w.until("neither", async () => ((await w.loadBalancers()).length === 0 ? true : undefined));
  expect(await w.cloud.network.floatingIps.all()).toEqual([]);
});

test("an internal Service would lose its address: it keeps its provider, and an event says so", async () => {
  const { w, run, hears, writes } = stage();
  run({ provider: "amphora" });
  await w.createService("web", {}, internal);
  await w.served("web");
  await pause(100);
  writes();
  await w.change("web", { metadata: { annotations: { [os("provider")]: "ovn" } } });
  expect(await hears("web", "LoadBalancerProviderUnchanged")).toMatch(/its address is its VIP/);
  expect(writes()).toEqual([]);
});
