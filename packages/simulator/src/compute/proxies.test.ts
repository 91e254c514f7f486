import { afterEach, expect, test } from "vitest";
import { at, textAt } from "../kernel/json.ts";
import type { Simulator } from "../interface.ts";
import { startClient, type Client } from "../testing-client.ts";

const running: Simulator[] = [];

async function started(): Promise<Client> {
  const client = await startClient();
  running.push(client.simulator);
  return client;
}

afterEach(async () => {
  for (const simulator of running.splice(0)) await simulator.close();
});

const nova = "/compute/v2.1";

test("a security group rule created through Nova is Neutron's, with the ports of its protocol; a group in use is not deleted", async () => {
  const { call } = await started();
  const group = await call("POST", `${nova}/os-security-groups`, { security_group: { name: "g", description: "d" } });
  const id = textAt(group.body, "security_group", "id") ?? "";
  const rule = { parent_group_id: id, ip_protocol: "tcp", from_port: 22, to_port: 22, cidr: "10.0.0.0/8" };
  const made = await call("POST", `${nova}/os-security-group-rules`, { security_group_rule: rule });
  expect(made.body).toMatchObject({ security_group_rule: { from_port: 22, ip_range: { cidr: "10.0.0.0/8" } } });
  const ruleReply = await call(
    "GET",
    `/network/v2.0/security-group-rules/${textAt(made.body, "security_group_rule", "id")}`,
  );
  expect(ruleReply.body).toMatchObject({ security_group_rule: { port_range_min: 22, remote_ip_prefix: "10.0.0.0/8" } });
  const wrong = { ...rule, from_port: 80, to_port: 22 };
  expect((await call("POST", `${nova}/os-security-group-rules`, { security_group_rule: wrong })).status).toBe(400);
  const list = await call("GET", `${nova}/os-security-groups`);
  const own = (at(list.body, "security_groups") as readonly unknown[]).find((one) => textAt(one, "name") === "default");
  expect((await call("DELETE", `${nova}/os-security-groups/${textAt(own, "id")}`)).status).toBe(400);
  expect((await call("DELETE", `${nova}/os-security-groups/${id}`)).status).toBe(202);
});

test("Nova allocates and releases a floating IP of a pool until 2.36", async () => {
  const { call } = await started();
  const made = await call("POST", `${nova}/os-floating-ips`, { pool: "public" });
  expect(made.body).toMatchObject({ floating_ip: { pool: "public", fixed_ip: null, instance_id: null } });
  const id = textAt(made.body, "floating_ip", "id") ?? "";
  expect((await call("GET", `/network/v2.0/floatingips/${id}`)).status).toBe(200);
  expect((await call("GET", `${nova}/os-floating-ips`, undefined, "compute 2.36")).status).toBe(404);
  expect((await call("DELETE", `${nova}/os-floating-ips/${id}`)).status).toBe(202);
  expect((await call("GET", `/network/v2.0/floatingips/${id}`)).status).toBe(404);
  expect((await call("POST", `${nova}/os-floating-ips`, { pool: "none" })).status).toBe(404);
});

test("a volume created through Nova is Cinder's", async () => {
  const { call, projectId } = await started();
  const made = await call("POST", `${nova}/os-volumes`, { volume: { size: 1, display_name: "v" } });
  const id = textAt(made.body, "volume", "id") ?? "";
  expect(made.body).toMatchObject({ volume: { displayName: "v", size: 1, attachments: [{}] } });
  const own = await call("GET", `/volume/v3/${projectId}/volumes/${id}`);
  expect(own.body).toMatchObject({ volume: { name: "v", size: 1 } });
  expect((await call("POST", `${nova}/os-volumes`, { volume: { size: 0 } })).status).toBe(400);
  expect((await call("GET", `${nova}/os-volumes/none`)).status).toBe(404);
});
