/** Many control planes that are requested to move to an etcd of their own at one moment. */
import { expect, test, vi } from "vitest";
import { plan } from "../plan.ts";
import { advance, moved, started } from "../testing/moves.ts";
import type { MovingCluster } from "../testing/moving-cluster.ts";
import { now } from "../testing/played-cluster.ts";

vi.setConfig({ testTimeout: 600_000 });

const TENANTS = 50;
/** Between two turns of one control plane, in milliseconds. */
const TURN = 1_000;
const COPIED = ["Copying", "Freezing"];
/** Whose writes are refused at a time: one that is compared, and one whose API servers change. */
const MOST = 2;

test("fifty control planes move one after the other: one is copied at a time, and no client loses a write", () => {
  const tenants = Array.from({ length: TENANTS }, (_, index) => ({
    name: `hcp-${String(index).padStart(2, "0")}`,
    cluster: started(),
    /** When it is planned again. */
    due: 0,
  }));
  /** Whose keys the process holds in memory. */
  const held = new Set<string>();
  const stageOf = ({ record }: MovingCluster): string => record?.stage ?? "";
  const isOver = ({ cluster }: (typeof tenants)[number]): boolean => stageOf(cluster) === "Retained";
  let [at, turns, copies, mostFrozen] = [now, 0, 0, 0];
  for (; !tenants.every(isOver) && turns < 20 * TENANTS; turns++, at += TURN) {
    for (const tenant of tenants.filter((each) => !isOver(each) && each.due <= at)) {
      const { name, cluster } = tenant;
      const others = tenants.filter((each) => each.name !== name && COPIED.includes(stageOf(each.cluster)));
      const observed = {
        ...cluster.observe(moved()),
        namespaceName: name,
        otherCopies: others.map((each) => each.name),
        isOtherCopied: [...held].some((each) => each !== name),
      };
      const { steps, wait } = plan(observed, at);
      for (const step of steps) {
        if (step.type === "copy-datastore") {
          expect([...held].filter((each) => each !== name)).toEqual([]);
          held.add(name);
          copies++;
        }
        cluster.perform(step, at);
        expect(cluster.use()).toBeUndefined();
      }
      if (!COPIED.includes(stageOf(cluster))) held.delete(name);
      if (steps.length > 0) continue;
      // Those that wait for another one check again when they say.
      if (others.length > 0 && !held.has(name)) tenant.due = Math.min(wait?.until ?? at, at + 60_000);
      advance(cluster);
    }
    const frozen = tenants.filter(({ cluster }) => ["Freezing", "Switching"].includes(stageOf(cluster)));
    mostFrozen = Math.max(mostFrozen, frozen.length);
  }
  expect(tenants.filter((each) => !isOver(each)).map(({ name, cluster }) => `${name} ${stageOf(cluster)}`)).toEqual([]);
  // None was copied twice, and none failed.
  expect(copies).toBe(TENANTS);
  expect(tenants.map(({ cluster }) => cluster.record?.attempt)).toEqual(Array.from({ length: TENANTS }, () => 1));
  expect(mostFrozen).toBeLessThanOrEqual(MOST);
});
