import fc from "fast-check";
import { expect, test } from "vitest";
import { formatIp, parseCidr, parseIp } from "./rules/addresses.ts";
import { networkCloud, neutron, place } from "./testing.ts";

test("addresses are never allocated twice, and released ones can be allocated again", async () => {
  const steps = fc.array(fc.oneof(fc.constant("make" as const), fc.nat(20)), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      const demo = neutron(networkCloud(), "demo");
      const { network } = await place(demo, { cidr: "10.0.0.0/28" });
      const held = new Map<string, string>();
      for (const step of plan) {
        if (step === "make") {
          const made = await demo("POST", "/ports", { port: { network_id: network } });
          // 13 addresses, one of them the metadata port's.
          expect(made.status).toBe(held.size < 12 ? 201 : 409);
          if (made.status !== 201) continue;
          const [ip] = made.one["fixed_ips"] as { ip_address: string }[];
          expect([...held.values()]).not.toContain(ip?.ip_address);
          held.set(made.id, ip?.ip_address ?? "");
        } else {
          const id = [...held.keys()][step];
          if (id === undefined) continue;
          expect((await demo("DELETE", `/ports/${id}`)).status).toBe(204);
          held.delete(id);
        }
      }
    }),
    { numRuns: 40 },
  );
});

test("every IPv6 and IPv4 value reads back from its text", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), (value) => {
      const v4 = { version: 4 as const, value: value & 0xffff_ffffn };
      expect(parseIp(formatIp({ version: 6, value }))).toEqual({ version: 6, value });
      expect(parseIp(formatIp(v4))).toEqual(v4);
    }),
  );
  expect(formatIp({ version: 6, value: 1n })).toBe("::1");
  expect(parseCidr("10.0.0.5/33")).toBeUndefined();
  expect(parseIp("1:2:3:4:5:6:7:8::")).toBeUndefined();
});

test("10,000 ports are listed page after page without delay", async () => {
  const cloud = networkCloud();
  cloud.kernel.setQuota("demo", "port", -1);
  const demo = neutron(cloud, "demo");
  const { network } = await place(demo, { cidr: "10.0.0.0/16" });
  for (let i = 0; i < 10; i++) {
    await demo("POST", "/ports", { ports: Array.from({ length: 1000 }, () => ({ network_id: network })) });
  }
  let seen = 0;
  let marker = "";
  const pages: number[] = [];
  for (;;) {
    const begun = performance.now();
    const page = await demo("GET", `/ports?limit=1000${marker && `&marker=${marker}`}`);
    pages.push(performance.now() - begun);
    if (page.list.length === 0) break;
    seen += page.list.length;
    marker = String(page.list.at(-1)?.["id"] as string);
  }
  expect(seen).toBe(10_001);
  // The best page: the machine may be busy with something else.
  // Under 200 ms on a machine of its own; a loaded one must not fail for it.
  expect(Math.min(...pages)).toBeLessThan(5000);
});

test("lists of Neutron are filtered by any attribute, by tags, and reduced to fields", async () => {
  const demo = neutron(networkCloud(), "demo");
  const { network, subnet } = await place(demo);
  const ids: string[] = [];
  for (const name of ["a", "b", "c"]) {
    ids.push((await demo("POST", "/ports", { port: { network_id: network, name } })).id);
  }
  await demo("PUT", `/ports/${ids[0]}/tags`, { tags: ["x", "y"] });
  expect((await demo("PUT", `/ports/${ids[1]}/tags/x`)).status).toBe(201);
  const names = async (query: string) =>
    (await demo("GET", `/ports?device_owner=&fields=name&${query}`)).list
      .map((p) => String(p["name"] as string))
      .sort();
  expect(await names("name=a&name=b")).toEqual(["a", "b"]);
  expect(await names("fixed_ips=ip_address=10.0.0.3")).toEqual(["a"]);
  expect(await names(`fixed_ips=ip_address=10.0.0.3&fixed_ips=subnet_id=${subnet}`)).toEqual(["a"]);
  expect(await names("tags=x")).toEqual(["a", "b"]);
  expect(await names("tags=x,y")).toEqual(["a"]);
  expect(await names("tags-any=y,z")).toEqual(["a"]);
  expect(await names("not-tags=x,y")).toEqual(["b", "c"]);
  expect(await names("not-tags-any=x")).toEqual(["c"]);
  expect(await names("admin_state_up=true&status=DOWN&project_id=demo")).toEqual(["a", "b", "c"]);
  expect((await demo("GET", `/ports/${ids[0]}?fields=name`)).one).toEqual({ name: "a" });
});

test("a stale revision is a failed precondition", async () => {
  const cloud = networkCloud();
  const demo = neutron(cloud, "demo");
  const { network } = await place(demo);
  const shown = await demo("GET", `/networks/${network}`);
  const put = (revision: number) =>
    cloud.app.request(`/network/v2.0/networks/${network}`, {
      method: "PUT",
      headers: { "x-auth-token": "demo", "if-match": `revision_number=${revision}` },
      body: JSON.stringify({ network: { description: "d" } }),
    });
  const now = shown.one["revision_number"] as number;
  expect((await put(now + 1)).status).toBe(412);
  expect((await put(now)).status).toBe(200);
});

test("changed_since lists what changed since, and refuses a value that is no instant", async () => {
  const demo = neutron(networkCloud(), "demo");
  await place(demo);
  const now = new Date().toISOString().slice(0, 10);
  const count = async (since: string) => (await demo("GET", `/networks?name=net&changed_since=${since}`)).list.length;
  expect([await count(`${now}T00:00:00Z`), await count("2200-01-01T00:00:00Z")]).toEqual([1, 0]);
  expect(await demo("GET", "/networks?changed_since=yesterday")).toMatchObject({ status: 400, type: "InvalidInput" });
});
