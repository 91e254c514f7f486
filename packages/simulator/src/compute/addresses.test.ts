import { afterEach, expect, test } from "vitest";
import { at, textAt } from "../kernel/json.ts";
import { startClient, type Client } from "../testing-client.ts";

const running: Client[] = [];
afterEach(async () => {
  for (const { simulator } of running.splice(0)) await simulator.close();
});

test("a server's addresses are in the order of its requested networks, whichever ports existed before", async () => {
  const client = await startClient({}, "demo");
  running.push(client);
  const { call } = client;
  const network = await call("POST", "/network/v2.0/networks", { network: { name: "n" } });
  const network_id = textAt(network.body, "network", "id") ?? "";
  await call("POST", "/network/v2.0/subnets", { subnet: { network_id, ip_version: 4, cidr: "10.0.0.0/24" } });
  const given = await call("POST", "/network/v2.0/ports", {
    port: { network_id, fixed_ips: [{ ip_address: "10.0.0.103" }] },
  });
  const images = at((await call("GET", "/image/v2/images?name=cirros")).body, "images") as readonly unknown[];
  const networks = [
    { uuid: network_id, fixed_ip: "10.0.0.101" },
    { port: textAt(given.body, "port", "id") },
    { uuid: network_id, fixed_ip: "10.0.0.100" },
  ];
  const asked = { name: "s", flavorRef: "1", imageRef: textAt(images[0], "id"), networks };
  const made = await call("POST", "/compute/v2.1/servers", { server: asked }, "compute 2.79");
  const id = textAt(made.body, "server", "id") ?? "";
  const order = ["10.0.0.101", "10.0.0.103", "10.0.0.100"];
  await expect
    .poll(async () => {
      const { body } = await call("GET", `/compute/v2.1/servers/${id}`);
      const shown = at(at(at(body, "server"), "addresses"), "n");
      return Array.isArray(shown) ? shown.map((one) => textAt(one, "addr")) : [];
    })
    .toEqual(order);
  const data = await fetch(`${client.origin}/metadata/openstack/latest/network_data.json`, {
    headers: { "x-instance-id": id },
  });
  const ports = (await call("GET", `/network/v2.0/ports?device_id=${id}`)).body;
  const byAddress = new Map(
    (at(ports, "ports") as readonly unknown[]).map((port) => [
      textAt((at(port, "fixed_ips") as readonly unknown[])[0], "ip_address"),
      textAt(port, "id"),
    ]),
  );
  const links = at((await data.json()) as unknown, "links") as readonly unknown[];
  expect(links.map((link) => textAt(link, "vif_id"))).toEqual(order.map((address) => byAddress.get(address)));
});
