import { VirtualClock } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import { NodeBursts } from "./node-bursts.ts";

/** How often members are sent when nodes change at these times (ms), checked every 100 ms. */
async function sent(changes: readonly number[]): Promise<number[]> {
  const clock = new VirtualClock(0);
  const bursts = new NodeBursts(clock);
  const times: number[] = [];
  let dirty = false;
  for (let at = 0; at <= 60_000; at += 100) {
    for (const change of changes)
      if (change === at) {
        bursts.changed();
        dirty = true;
      }
    if (dirty && bursts.heldUntil() === undefined) {
      times.push(at);
      dirty = false;
    }
    await clock.advance(100);
  }
  return times;
}

describe("changes of nodes are passed on", () => {
  test.each<[string, number[], number[]]>([
    ["once after half a second", [0], [500]],
    ["once for two that are close together", [0, 400], [900]],
    ["twice for twenty in eight seconds", Array.from({ length: 20 }, (_, i) => i * 400), [5_000, 9_600]],
    ["twice for twenty in ten seconds", Array.from({ length: 20 }, (_, i) => i * 500), [500, 10_500]],
    ["twice for irregular ones", [0, 1_200, 2_000, 3_500, 5_000, 6_000, 7_500, 9_000, 9_900], [500, 11_200]],
    ["as if it were the first for one long after another", [0, 8_000], [500, 8_500]],
  ])("%s", async (_what, changes, expected) => {
    expect(await sent(changes)).toEqual(expected);
  });
});
