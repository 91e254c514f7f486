import fc from "fast-check";
import { expect, test } from "vitest";
import { asWritten } from "@causeway/octavia-tree";
import type { Member, MemberCreate } from "@causeway/openstack";
import { decodePools, digestOf, encodePools, membersOf, recordOf, type RecordedPool } from "./format.ts";

const member = fc.record({
  address: fc.ipV4(),
  name: fc.string({ unit: "binary", maxLength: 20 }),
  weight: fc.nat(256),
  protocol_port: fc.integer({ min: 1, max: 65_535 }),
});
const membersArbitrary = fc.uniqueArray(member, { selector: (m) => `${m.address} ${m.protocol_port}`, maxLength: 8 });

function made(entry: string, members: readonly MemberCreate[]): RecordedPool {
  const record = recordOf(entry, asWritten([], members));
  if (!record) throw new Error("not recorded");
  return record;
}

const inOrder = (members: readonly MemberCreate[] | undefined): string[] =>
  (members ?? []).map((m) => JSON.stringify([m.address, m.protocol_port, m.name, m.weight])).sort();

test("the record of pools is read as it was written: digests and members of every pool", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.uuid(), fc.tuple(fc.string(), membersArbitrary), { maxKeys: 6 }), (pools) => {
      const entries = Object.entries(pools);
      const text = encodePools("c", new Map(entries.map(([id, [entry, members]]) => [id, made(entry, members)])));
      const read = decodePools("c", text);
      expect([...read.keys()]).toEqual(entries.map(([id]) => id));
      for (const [id, [entry, members]] of entries) {
        const found = read.get(id);
        expect(found?.digest).toBe(digestOf(entry));
        expect(inOrder(found && membersOf(found))).toEqual(inOrder(members));
      }
    }),
  );
});

test("a set of members is written once, whatever the port", () => {
  const at = (port: number) => ["10.0.0.1", "10.0.0.2"].map((address) => ({ address, protocol_port: port, weight: 1 }));
  const pools = new Map([1, 2, 3].map((i) => [`p${i}`, made("e", at(30_000 + i))]));
  expect(encodePools("c", pools).split("10.0.0.1")).toHaveLength(2);
});

test.each([
  ["a backup", { backup: true }],
  ["one that is switched off", { admin_state_up: false }],
  ["one with a port of a monitor", { monitor_port: 8080 }],
  ["one with an address of a monitor", { monitor_address: "10.0.0.9" }],
])("a pool with %s among its members is not recorded", (_, odd: Partial<Member>) => {
  const [plain] = asWritten([], [{ address: "10.0.0.1", protocol_port: 80 }]);
  expect(recordOf("e", plain ? [plain, { ...plain, ...odd }] : [])).toBeUndefined();
});

test("pools beyond the size are left out, and those that are in it can be read", () => {
  const pools = new Map(
    Array.from({ length: 100 }, (_, i) => [`p${i}`, made("e", [{ address: `10.0.0.${i}`, protocol_port: 80 }])]),
  );
  const text = encodePools("c", pools, 2_000);
  expect(Buffer.byteLength(text)).toBeLessThan(2_200);
  const read = decodePools("c", text);
  expect(read.size).toBeGreaterThan(10);
  expect(read.size).toBeLessThan(100);
});

test.each([
  ["nothing", ""],
  ["no JSON", "{"],
  ["another kind of value", "[]"],
  ["another version", JSON.stringify({ version: 2, cluster: "c", sets: [], pools: [["p", "d", 0, 1]] })],
  ["another cluster", JSON.stringify({ version: 1, cluster: "d", sets: ["[]"], pools: [["p", "d", 0, 1]] })],
  ["a set that is missing", JSON.stringify({ version: 1, cluster: "c", sets: [], pools: [["p", "d", 0, 1]] })],
  [
    "rows of another shape",
    JSON.stringify({ version: 1, cluster: "c", sets: ["[]"], pools: [1, ["p"], [1, 2, 3, 4]] }),
  ],
  ["too deep", `${"[".repeat(9)}${"]".repeat(9)}`],
])("a text with %s has no pools", (_, text) => {
  expect(decodePools("c", text).size).toBe(0);
});

test.each(["", "{}", "[1]", "[[1,2,3,4]]", '[["a","n","w",0]]', '[["a","n",1]]'])(
  "members of a damaged set %s are not known",
  (set) => {
    expect(membersOf({ digest: "d", set, port: 80 })).toBeUndefined();
  },
);
