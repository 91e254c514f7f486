import { describe, expect, test } from "vitest";
import { asWritten, limitsOf, memberChange } from "@causeway/octavia-tree";
import { ModelWorld } from "../../testing/model.ts";
import { aNode, aService } from "../../testing/objects.ts";
import { desiredPorts } from "../parameters/desired.ts";
import { plan } from "../plan.ts";

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

/**
 * The changes of members of a Service with so many ports when a node takes another's place; whether each is followed by
 * another.
 */
function followed(ports: number): (true | undefined)[] {
  const [first, second, third] = [1, 2, 3].map((i) => aNode(`n${i}`, { address: `10.0.0.${i}` }));
  if (!first || !second || !third) throw new Error("no nodes");
  const port = (i: number) => ({ name: `p${i}`, port: 80 + i, protocol: "TCP" as const, nodePort: 30_080 + i });
  const world = new ModelWorld(aService({ ports: Array.from({ length: ports }, (_, i) => port(i)) }), [first, second]);
  world.converge();
  world.nodes = [first, third];
  const announced: (true | undefined)[] = [];
  for (let i = 0; i < ports; i += 1) {
    const observed = world.observe();
    const [step] = plan(observed, 0).steps;
    if (step?.type !== "replace-members") throw new Error(`not ${step?.type}`);
    announced.push(step.more);
    const { members: nodes } = step;
    world.pools = world.pools.map((pool) =>
      pool.pool.id === step.poolId ? { ...pool, members: asWritten(pool.members, nodes) } : pool,
    );
  }
  return announced;
}

describe("a change of members", () => {
  test("says whether another follows it, which shows when it is over", () => {
    expect(followed(1)).toEqual([undefined]);
    expect(followed(3)).toEqual([true, true, undefined]);
  });

  test("costs as much again for twice as many nodes", () => {
    expect(reads(1_000)).toBe(reads(500) * 2);
    expect(reads(1_000)).toBeLessThan(10_000);
  });
});
