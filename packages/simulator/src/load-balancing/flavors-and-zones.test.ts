import { expect, test } from "vitest";
import { neutron, place } from "../network/testing.ts";
import { balancerCloud, octavia, settle } from "./testing.ts";

async function readyCloud() {
  const cloud = balancerCloud();
  const net = neutron(cloud, "demo");
  return { admin: octavia(cloud, "ops:admin"), call: octavia(cloud, "demo"), net, ...(await place(net)) };
}

const profile = (provider_name: string, data: object = { loadbalancer_topology: "SINGLE" }) => ({
  flavorprofile: { name: "p", provider_name, flavor_data: JSON.stringify(data) },
});

test("a flavor names the provider; neither its profile nor the flavor can be deleted while in use", async () => {
  const { admin, call, subnet } = await readyCloud();
  const made = await admin("POST", "/flavorprofiles", profile("amphora"));
  const flavor = await admin("POST", "/flavors", { flavor: { name: "f", flavor_profile_id: made.one["id"] } });
  expect(flavor.one).toMatchObject({ name: "f", enabled: true, description: null });
  expect(await admin("DELETE", `/flavorprofiles/${String(made.one["id"])}`)).toMatchObject({ status: 409 });
  const balancer = await call("POST", "/loadbalancers", {
    loadbalancer: { vip_subnet_id: subnet, flavor_id: flavor.one["id"] },
  });
  expect(balancer.one).toMatchObject({ provider: "amphora", flavor_id: flavor.one["id"] });
  expect(await admin("DELETE", `/flavors/${String(flavor.one["id"])}`)).toMatchObject({ status: 409 });
  const other = { vip_subnet_id: subnet, flavor_id: flavor.one["id"], provider: "ovn" };
  const refused = await call("POST", "/loadbalancers", { loadbalancer: other });
  expect(refused.fault).toBe(`Flavor '${String(flavor.one["id"])}' is not compatible with provider 'ovn'`);
});

test("a disabled flavor and a missing one are refused with different messages", async () => {
  const { admin, call, subnet } = await readyCloud();
  const made = await admin("POST", "/flavorprofiles", profile("amphora"));
  const body = { name: "f", flavor_profile_id: made.one["id"], enabled: false };
  const flavor = await admin("POST", "/flavors", { flavor: body });
  const create = (flavor_id: unknown) =>
    call("POST", "/loadbalancers", { loadbalancer: { vip_subnet_id: subnet, flavor_id } });
  expect((await create(flavor.one["id"])).fault).toContain("is not allowed in this deployment");
  expect((await create("7f0e2f1c-3b56-4a61-9d4c-5a0f4b3e2d10")).fault).toBe("Validation failure: Invalid flavor_id.");
});

test("OVN accepts no flavor profiles, amphora none with unknown options; a member may create none", async () => {
  const { admin, call } = await readyCloud();
  expect(await admin("POST", "/flavorprofiles", profile("ovn"))).toMatchObject({ status: 501 });
  expect(await admin("POST", "/flavorprofiles", profile("amphora", { a: 1 }))).toMatchObject({ status: 501 });
  expect(await call("POST", "/flavorprofiles", profile("amphora"))).toMatchObject({ status: 403 });
});

test("an amphora load balancer has one amphora, another after a failover, none when deleted; OVN does not support failover", async () => {
  const { admin, call, subnet } = await readyCloud();
  const balancer = async (provider: string) => {
    const made = await call("POST", "/loadbalancers", { loadbalancer: { vip_subnet_id: subnet, provider } });
    await settle();
    return String(made.one["id"]);
  };
  const [amphora, ovn] = [await balancer("amphora"), await balancer("ovn")];
  const ids = async () => (await admin("GET", "/amphorae")).list.map((one) => one["id"]);
  const [first, ...others] = await ids();
  expect(others).toEqual([]);
  expect(await admin("PUT", `/loadbalancers/${ovn}/failover`)).toMatchObject({ status: 501 });
  expect(await admin("PUT", `/loadbalancers/${amphora}/failover`)).toMatchObject({ status: 202 });
  await settle();
  expect(await ids()).not.toContain(first);
  expect(await ids()).toHaveLength(1);
  await call("DELETE", `/loadbalancers/${amphora}`);
  await settle();
  expect(await ids()).toEqual([]);
});

test("additional VIPs get an address on the amphora's port, and none from OVN; no subnet twice", async () => {
  const { call, net, subnet, network } = await readyCloud();
  const second = await net("POST", "/subnets", { subnet: { network_id: network, ip_version: 4, cidr: "10.9.0.0/24" } });
  const additional_vips = [{ subnet_id: second.one["id"] }];
  const create = (provider: string, more: object) =>
    call("POST", "/loadbalancers", { loadbalancer: { vip_subnet_id: subnet, provider, ...more } });
  const ofAmphora = await create("amphora", { additional_vips });
  expect(ofAmphora.one["additional_vips"]).toEqual([
    { ...additional_vips[0], ip_address: expect.stringMatching(/^10\.9\.0\./) },
  ]);
  const ofOvn = await create("ovn", { additional_vips });
  expect(ofOvn.one["additional_vips"]).toEqual([{ ...additional_vips[0], ip_address: null }]);
  const twice = await create("ovn", { additional_vips: [{ subnet_id: subnet }] });
  expect(twice.fault).toContain("Duplicate VIP subnet(s) specified.");
});
