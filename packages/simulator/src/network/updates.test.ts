import { expect, test } from "vitest";
import { networkCloud, neutron, place } from "./testing.ts";

test("an empty PUT disassociates a floating IP from its port, one that changes another field does not", async () => {
  const demo = neutron(networkCloud(), "demo");
  const { network, external } = await place(demo, { routed: true });
  const port = await demo("POST", "/ports", { port: { network_id: network } });
  const given = { floating_network_id: external, port_id: port.id };
  const { id } = await demo("POST", "/floatingips", { floatingip: given });
  const described = await demo("PUT", `/floatingips/${id}`, { floatingip: { description: "kept" } });
  expect(described.one).toMatchObject({ port_id: port.id, description: "kept" });
  const disassociated = await demo("PUT", `/floatingips/${id}`, { floatingip: {} });
  expect(disassociated.status).toBe(200);
  expect(disassociated.one).toMatchObject({
    port_id: null,
    fixed_ip_address: null,
    router_id: null,
    description: "kept",
  });
});

test("a floating IP of a network without an IPv4 subnet is refused", async () => {
  const admin = neutron(networkCloud(), "admins:admin");
  const { id } = await admin("POST", "/networks", { network: { name: "outside", "router:external": true } });
  const refused = await admin("POST", "/floatingips", { floatingip: { floating_network_id: id } });
  expect(refused).toMatchObject({ status: 400, type: "BadRequest" });
  expect(refused.message).toBe(`Bad floatingip request: Network ${id} does not contain any IPv4 subnet.`);
});

test("a PUT merges DHCP options by name and version, and null removes one", async () => {
  const demo = neutron(networkCloud(), "demo");
  const { network } = await place(demo);
  const options = (names: Readonly<Record<string, string | null>>) =>
    Object.entries(names).map(([opt_name, opt_value]) => ({ opt_name, opt_value }));
  const made = await demo("POST", "/ports", {
    port: { network_id: network, extra_dhcp_opts: options({ A: "a", B: "b", none: null, empty: "", router: "" }) },
  });
  const of = (answer: typeof made) =>
    Object.fromEntries(
      (answer.one["extra_dhcp_opts"] as { opt_name: string; opt_value: string }[]).map((o) => [
        o.opt_name,
        o.opt_value,
      ]),
    );
  expect(of(made)).toEqual({ A: "a", B: "b", router: "" });
  const put = async (given: Readonly<Record<string, string | null>> | null) =>
    of(await demo("PUT", `/ports/${made.id}`, { port: { extra_dhcp_opts: given && options(given) } }));
  expect(await put({ B: null, C: "c" })).toEqual({ A: "a", router: "", C: "c" });
  expect(await put({ A: "new" })).toEqual({ A: "new", router: "", C: "c" });
  expect(await put({})).toEqual({ A: "new", router: "", C: "c" });
  expect(await put(null)).toEqual({ A: "new", router: "", C: "c" });
});

test("the addresses of a port are in the order of their texts", async () => {
  const demo = neutron(networkCloud(), "demo");
  const { network, subnet } = await place(demo);
  const ips = ["10.0.0.9", "10.0.0.20", "10.0.0.100"].map((ip_address) => ({ subnet_id: subnet, ip_address }));
  const made = await demo("POST", "/ports", { port: { network_id: network, fixed_ips: ips } });
  const shown = (made.one["fixed_ips"] as { ip_address: string }[]).map((ip) => ip.ip_address);
  expect(shown).toEqual(["10.0.0.100", "10.0.0.20", "10.0.0.9"]);
});

test("the prefix of a rule is written as Neutron writes addresses", async () => {
  const demo = neutron(networkCloud(), "demo");
  const group = await demo("POST", "/security-groups", { security_group: { name: "g" } });
  const prefixOf = async (remote_ip_prefix: string, ethertype: string) => {
    const rule = { security_group_id: group.id, direction: "ingress", ethertype, remote_ip_prefix };
    return (await demo("POST", "/security-group-rules", { security_group_rule: rule })).one["remote_ip_prefix"];
  };
  expect(await prefixOf("2001:DB8:0:0::/64", "IPv6")).toBe("2001:db8::/64");
  expect(await prefixOf("2001:DB8::7", "IPv6")).toBe("2001:db8::7/128");
  expect(await prefixOf("10.1.2.3/8", "IPv4")).toBe("10.1.2.3/8");
});

test("an administrator puts another project's group on a port, a member one that is shared with the project", async () => {
  const cloud = networkCloud();
  const [demo, other, admin] = [neutron(cloud, "demo"), neutron(cloud, "other"), neutron(cloud, "admins:admin")];
  const { network } = await place(demo);
  const group = (await other("POST", "/security-groups", { security_group: { name: "theirs" } })).id;
  const port = { port: { network_id: network, security_groups: [group] } };
  expect((await demo("POST", "/ports", port)).status).toBe(404);
  expect((await admin("POST", "/ports", port)).status).toBe(201);
  const policy = { object_type: "security_group", object_id: group, action: "access_as_shared", target_tenant: "demo" };
  expect((await other("POST", "/rbac-policies", { rbac_policy: policy })).status).toBe(201);
  expect((await demo("POST", "/ports", port)).status).toBe(201);
});

test("a network's packets fit the segments that it is made of", async () => {
  const admin = neutron(networkCloud(), "admins:admin");
  const mtuOf = async (network: object) => (await admin("POST", "/networks", { network })).one["mtu"];
  expect(await mtuOf({ "router:external": true })).toBe(1442);
  expect(await mtuOf({ "provider:network_type": "local" })).toBe(1500);
  expect(await mtuOf({ "provider:network_type": "vxlan" })).toBe(1450);
  const flat = { "provider:network_type": "flat", "provider:physical_network": "public" };
  expect(await mtuOf({ segments: [flat, { "provider:network_type": "vxlan" }] })).toBe(1450);
  const refused = await admin("POST", "/networks", { network: { mtu: 1443 } });
  expect(refused.message).toBe("Invalid input for operation: Requested MTU is too big, maximum is 1442.");
});

test("a network of several segments shows them, and its subnets are on segments all or none", async () => {
  const cloud = networkCloud();
  const [admin, demo] = [neutron(cloud, "admins:admin"), neutron(cloud, "demo")];
  const vxlan = { "provider:network_type": "vxlan" };
  const made = await admin("POST", "/networks", { network: { segments: [vxlan, { ...vxlan }] } });
  const numbers = (made.one["segments"] as Record<string, unknown>[]).map((s) => s["provider:segmentation_id"]);
  expect(new Set(numbers).size).toBe(2);
  expect((await demo("POST", "/networks", { network: { segments: [vxlan] } })).status).toBe(403);
  expect((await admin("POST", "/networks", { network: { segments: [vxlan], ...vxlan } })).type).toBe(
    "SegmentsSetInConjunctionWithProviders",
  );
  const twin = { ...vxlan, "provider:segmentation_id": 77 };
  expect((await admin("POST", "/networks", { network: { segments: [twin, twin] } })).type).toBe(
    "SegmentsContainDuplicateEntry",
  );
  const [first] = (await admin("GET", `/segments?network_id=${made.id}`)).list;
  const subnet = { network_id: made.id, ip_version: 4, cidr: "10.5.0.0/24" };
  const on = await admin("POST", "/subnets", { subnet: { ...subnet, segment_id: first?.["id"] } });
  expect(on.one["segment_id"]).toBe(first?.["id"]);
  const off = await admin("POST", "/subnets", { subnet: { ...subnet, cidr: "10.6.0.0/24" } });
  expect(off).toMatchObject({ status: 400, type: "SubnetsNotAllAssociatedWithSegments" });
  expect((await admin("GET", `/subnets?segment_id=${String(first?.["id"])}`)).list).toHaveLength(1);
  expect((await admin("DELETE", `/segments/${String(first?.["id"])}`)).type).toBe("SegmentInUse");
});

test("a local segment has no number and takes none", async () => {
  const admin = neutron(networkCloud(), "admins:admin");
  const made = await admin("POST", "/networks", { network: { "provider:network_type": "local" } });
  expect(made.one["provider:segmentation_id"]).toBeNull();
  const numbered = { "provider:network_type": "local", "provider:segmentation_id": 5 };
  const refused = await admin("POST", "/networks", { network: numbered });
  expect(refused.message).toBe("Invalid input for operation: segmentation_id prohibited for local provider network.");
});

test("a subnet of one address gives it to a port", async () => {
  const demo = neutron(networkCloud(), "demo");
  const { id: network } = await demo("POST", "/networks", { network: { name: "n" } });
  const cidr = "2001:db8::7/128";
  const given = { network_id: network, ip_version: 6, cidr, gateway_ip: null, enable_dhcp: false };
  const subnet = await demo("POST", "/subnets", { subnet: given });
  expect(subnet.one["allocation_pools"]).toEqual([{ start: "2001:db8::7", end: "2001:db8::7" }]);
  const port = await demo("POST", "/ports", { port: { network_id: network } });
  expect(port.one["fixed_ips"]).toEqual([{ subnet_id: subnet.id, ip_address: "2001:db8::7" }]);
});
