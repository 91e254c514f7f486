import { createHash } from "node:crypto";

/** The shard of a namespace, from 0 to `count` - 1. What follows a slash does not count. */
export function shardOf(namespace: string, count: number): number {
  const [name = ""] = namespace.split("/", 1);
  return createHash("sha256").update(name).digest().readUInt32BE(0) % count;
}

/**
 * The member that each shard belongs to: by rendezvous hashing, with at most ceil(count / members) for each. Who comes
 * or goes moves few shards other than its own. Every process that sees the same members finds the same.
 *
 * @example
 *   assignShards(4, ["a", "b"]); // for example ["b", "a", "b", "a"]
 */
export function assignShards(count: number, members: readonly string[]): readonly (string | undefined)[] {
  const most = Math.ceil(count / Math.max(members.length, 1));
  const sorted = [...members].sort();
  const held = new Map<string, number>();
  return Array.from({ length: count }, (_, shard) => {
    const [owner] = sorted
      .filter((member) => (held.get(member) ?? 0) < most)
      .map((member) => ({ member, weight: weightOf(member, shard) }))
      .sort((a, b) => (a.weight < b.weight ? 1 : -1));
    if (!owner) return undefined;
    held.set(owner.member, (held.get(owner.member) ?? 0) + 1);
    return owner.member;
  });
}

function weightOf(member: string, shard: number): string {
  return createHash("sha256").update(`${shard}/${member}`).digest("hex");
}
