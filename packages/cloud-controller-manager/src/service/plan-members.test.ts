import { describe, expect, test } from "vitest";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService } from "../testing/objects.ts";
import { desiredPorts } from "./desired.ts";
import { memberChange } from "./plan-members.ts";
import { limitsOf } from "./provider.ts";

/** How often members' and nodes' addresses are read to compare a pool of so many members with as many other nodes. */
function reads(count: number): number {
  let made = 0;
  const counting = <T extends { address: string }>(object: T): T => {
    const { address } = object;
    return Object.defineProperty({ ...object }, "address", { enumerable: true, get: () => ((made += 1), address) });
  };
  const node = (i: number) => aNode(`n${i}`, { address: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` });
  const nodes = Array.from({ length: count * 2 }, (_, i) => node(i));
  const world = new ModelWorld(aService(), nodes.slice(0, count));
  world.converge();
  const [pool] = world.pools;
  world.nodes = nodes.slice(count);
  const observed = world.observe();
  const { parameters, service, lbName } = observed;
  const limits = limitsOf("amphora");
  const from = { service, nodes: observed.nodes, parameters, limits, lbName, memberSubnetId: "s", serial: false };
  const [port] = desiredPorts(from);
  if (!pool || !port) throw new Error("no pool");
  const change = memberChange(
    { ...pool, members: pool.members.map(counting) },
    { ...port, members: port.members.map(counting) },
  );
  expect(change?.type).toBe("replace-members");
  return made;
}

describe("a change of members", () => {
  test("costs as much again for twice as many nodes", () => {
    expect(reads(1_000)).toBe(reads(500) * 2);
    expect(reads(1_000)).toBeLessThan(10_000);
  });
});
