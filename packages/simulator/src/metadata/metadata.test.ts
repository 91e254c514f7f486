import { afterEach, expect, test } from "vitest";
import { at, textAt } from "../kernel/json.ts";
import { startClient, type Client } from "../testing-client.ts";

const running: Client[] = [];
afterEach(async () => {
  for (const { simulator } of running.splice(0)) await simulator.close();
});

/** A server with user data, a key, a port and, perhaps, a config drive. */
async function server(more: object = {}) {
  const client = await startClient({}, "demo");
  running.push(client);
  const { call } = client;
  const network = await call("POST", "/network/v2.0/networks", { network: { name: "n" } });
  const network_id = textAt(network.body, "network", "id") ?? "";
  await call("POST", "/network/v2.0/subnets", { subnet: { network_id, ip_version: 4, cidr: "10.0.0.0/24" } });
  await call("POST", "/compute/v2.1/os-keypairs", { keypair: { name: "k" } });
  const images = at((await call("GET", "/image/v2/images?name=cirros")).body, "images") as readonly unknown[];
  const asked = {
    name: "s",
    flavorRef: "1",
    imageRef: textAt(images[0], "id"),
    networks: [{ uuid: network_id }],
    key_name: "k",
    user_data: Buffer.from("#!/bin/sh\n").toString("base64"),
    metadata: { a: "1" },
    ...more,
  };
  const made = await call("POST", "/compute/v2.1/servers", { server: asked }, "compute 2.79");
  const id = textAt(made.body, "server", "id") ?? "";
  // An instant cloud boots it on its next turn.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const read = async (path: string, of = id) => {
    const answer = await fetch(`${client.origin}/metadata${path}`, { headers: { "x-instance-id": of } });
    return { status: answer.status, text: await answer.text() };
  };
  return { client, id, read };
}

test("a server reads its name, metadata, key and user data, and nothing of another's", async () => {
  const { id, read } = await server();
  const own = JSON.parse((await read("/openstack/latest/meta_data.json")).text) as object;
  expect(own).toMatchObject({ uuid: id, name: "s", meta: { a: "1" }, availability_zone: "nova" });
  expect(textAt(own, "public_keys", "k")).toMatch(/^ssh-rsa AAAA/);
  expect(await read("/openstack/latest/user_data")).toEqual({ status: 200, text: "#!/bin/sh\n" });
  expect((await read("/latest/meta-data/")).text).toContain("placement/\n");
  expect((await read("/latest/meta-data/local-ipv4")).text).toMatch(/^10\.0\.0\./);
  expect(await read("/openstack/latest/meta_data.json", "7f0e2f1c-3b56-4a61-9d4c-5a0f4b3e2d10")).toMatchObject({
    status: 404,
  });
});

test("network_data.json names the port's link, address and MAC", async () => {
  const { read } = await server();
  const data = JSON.parse((await read("/openstack/latest/network_data.json")).text) as object;
  expect(data).toMatchObject({ links: [{ type: "ovs" }], networks: [{ id: "network0", type: "ipv4_dhcp" }] });
});

test("a config drive has the same documents; a server without one has none", async () => {
  const drive = (await server({ config_drive: true })).client.simulator.machines()[0]?.configDrive;
  expect(drive?.["openstack/latest/user_data"]).toBe("#!/bin/sh\n");
  expect(JSON.parse(drive?.["openstack/latest/meta_data.json"] ?? "{}")).toMatchObject({ name: "s" });
  expect((await server()).client.simulator.machines()[0]?.configDrive).toBeUndefined();
});

test("the list of machines is computed once for each change of the cloud, not with each call", async () => {
  const { client, id } = await server();
  const { simulator, call } = client;
  const before = simulator.machines();
  expect(before).toMatchObject([{ id, running: true, userData: "#!/bin/sh\n" }]);
  for (let i = 0; i < 100; i++) expect(simulator.machines()).toBe(before);
  await call("POST", `/compute/v2.1/servers/${id}/action`, { "os-stop": null });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(simulator.machines()).toMatchObject([{ id, running: false }]);
});
