import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assignShards, shardOf } from "./assign.ts";

const membersOf = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 9 });

describe("the assignment of shards", () => {
  test("gives every shard to a member, and no member more than its part, rounded up", () => {
    fc.assert(
      fc.property(membersOf, fc.integer({ min: 1, max: 64 }), (members, count) => {
        const owners = assignShards(count, members);
        expect(owners).toHaveLength(count);
        for (const owner of owners) expect(members).toContain(owner);
        const most = Math.ceil(count / members.length);
        for (const member of members) expect(owners.filter((o) => o === member).length).toBeLessThanOrEqual(most);
      }),
    );
  });

  test("does not depend on the order in which members are listed", () => {
    fc.assert(
      fc.property(membersOf, (members) => {
        expect(assignShards(16, members.toReversed())).toEqual(assignShards(16, members));
      }),
    );
  });

  test("moves at most half of 64 shards when the fourth of four members ends", () => {
    const before = assignShards(64, ["a", "b", "c", "d"]);
    const after = assignShards(64, ["a", "b", "c"]);
    const moved = before.filter((owner, shard) => owner !== after[shard]).length;
    expect(before.filter((owner) => owner === "d")).toHaveLength(16);
    expect(moved).toBeLessThanOrEqual(32);
  });

  test("has no owner without members", () => {
    expect(assignShards(2, [])).toEqual([undefined, undefined]);
  });

  test("puts a namespace into one shard, whatever follows a slash in the key", () => {
    const shard = shardOf("tenant-1", 16);
    expect(shard).toBeLessThan(16);
    expect(shardOf("tenant-1/web", 16)).toBe(shard);
  });

  test("spreads a thousand namespaces over all shards", () => {
    const used = new Set(Array.from({ length: 1000 }, (_, i) => shardOf(`tenant-${i}`, 32)));
    expect(used.size).toBe(32);
  });
});
