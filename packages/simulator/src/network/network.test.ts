import { expect, test } from "vitest";
import { networkCloud, neutron, place } from "./testing.ts";

test("the simulated cloud creates network, subnet, router, port and floating IP for a server, and deletes all of them", async () => {
  const cloud = networkCloud();
  const demo = neutron(cloud, "demo");
  await demo("GET", "/security-groups");
  const before = cloud.kernel.inventory();
  const { network, subnet, external, router } = await place(demo, { routed: true });
  const port = await demo("POST", "/ports", { port: { network_id: network } });
  expect(port.one["fixed_ips"]).toEqual([{ subnet_id: subnet, ip_address: "10.0.0.3" }]);
  const given = { floating_network_id: external, port_id: port.id };
  const floating = await demo("POST", "/floatingips", { floatingip: given });
  expect(floating.one).toMatchObject({ router_id: router, fixed_ip_address: "10.0.0.3", status: "DOWN" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  const shown = await demo("GET", `/floatingips/${floating.id}`);
  expect(shown.one["status"]).toBe("ACTIVE");
  for (const path of [`/floatingips/${floating.id}`, `/ports/${port.id}`]) {
    expect((await demo("DELETE", path)).status).toBe(204);
  }
  expect((await demo("PUT", `/routers/${router}/remove_router_interface`, { subnet_id: subnet })).status).toBe(200);
  for (const path of [`/routers/${router}`, `/subnets/${subnet}`, `/networks/${network}`]) {
    expect((await demo("DELETE", path)).status).toBe(204);
  }
  expect(cloud.kernel.inventory()).toEqual(before);
});
