import { expect, test } from "vitest";
import { networkCloud, neutron, place } from "./testing.ts";

test("lists of Neutron filter by fields that only the view has", async () => {
  const cloud = networkCloud();
  const [demo, admin] = [neutron(cloud, "demo"), neutron(cloud, "admins:admin")];
  const { network } = await place(demo, { routed: true });
  await demo("POST", "/subnetpools", { subnetpool: { name: "p", prefixes: ["10.9.0.0/16"], min_prefixlen: 24 } });
  await demo("POST", "/address-scopes", { address_scope: { name: "s", ip_version: 4 } });
  const count = async (path: string) => (await demo("GET", path)).list.length;
  expect(await count(`/networks?id=${network}&status=ACTIVE`)).toBe(1);
  expect(await count(`/networks?id=${network}&status=DOWN`)).toBe(0);
  expect(await count("/address-scopes?shared=false")).toBe(1);
  expect(await count("/address-scopes?shared=true")).toBe(0);
  expect(await count("/subnetpools?name=p&shared=false")).toBe(1);
  expect(await count("/subnetpools?name=p&shared=true")).toBe(0);
  expect((await admin("GET", "/networks?provider:network_type=flat&fields=name")).list).toEqual([{ name: "public" }]);
  const ordered = (await demo("GET", "/networks?sort_key=status&sort_dir=desc")).list;
  expect(ordered.length).toBeGreaterThan(1);
});

test("a user who may not see a field may filter by it, as on the real service", async () => {
  const demo = neutron(networkCloud(), "demo");
  const flat = (await demo("GET", "/networks?provider:network_type=flat")).list;
  expect(flat.map((row) => [row["name"], row["provider:network_type"]])).toEqual([["public", undefined]]);
});
