import { describe, expect, it } from "vitest";
import { Durations, type PollTimes } from "./durations.ts";

/** Seen over at `by`; without `after`, at the first read. */
const at = (by: number, after = 0): PollTimes => ({ after, by });
const of = (size: number, ...polls: readonly PollTimes[]) => polls.map((polled) => [size, polled] as const);

describe("the length of a transition", () => {
  it.each<[string, readonly (readonly [size: number, polled: PollTimes])[], number, number[] | undefined]>([
    ["nothing", [], 1, undefined],
    ["the same size, seen over at the first read: a little earlier is tried", of(2, at(2_000)), 2, [1_940, 2_000]],
    ["the same size, known to the twentieth part", of(2, at(2_000, 1_900)), 2, [2_000, 2_000]],
    ["the same size, known to the eighth part: between", of(2, at(2_000, 1_750)), 2, [1_875, 2_000]],
    ["the same size, twice", of(2, at(3_000, 2_600), at(2_800)), 2, [2_700, 2_800]],
    ["the same size, far quicker once", of(2, at(3), at(5_000, 4_000), at(6_000, 5_900)), 2, [5_000, 5_000]],
    ["the same size, slower once", of(2, at(500, 490), at(500), at(900, 800)), 2, [500, 500]],
    ["the same size, slower twice", of(2, at(500, 490), at(500), at(900, 800), at(900, 890)), 2, [900, 900]],
    ["the same size, earlier tried for nothing", of(2, at(3_000), at(3_000), at(3_000, 2_910)), 2, [3_000, 3_000]],
    ["the same size, short, a few times", of(2, ...Array.from({ length: 5 }, () => at(500))), 2, [500, 500]],
    ["the same size, short, many times", of(2, ...Array.from({ length: 6 }, () => at(500))), 2, [485, 500]],
    ["a smaller one: as long, or longer by as much as it is larger", of(2, at(1_000)), 20, [1_000, 10_000]],
    ["a larger one: its share, or as long", of(20, at(1_000)), 2, [100, 1_000]],
    ["a smaller one, known to the eighth part", of(2, at(1_000, 880)), 20, [940, 9_400]],
    ["both", [...of(2, at(1_000)), ...of(20, at(3_000))], 10, [1_000, 3_000]],
    ["both, the larger one quicker", [...of(2, at(1_000)), ...of(20, at(500))], 10, [1_000, 1_000]],
  ])("is expected from what was seen: %s", (_name, seen, size, expected) => {
    const durations = new Durations();
    for (const [each, polled] of seen) durations.settled({ kind: "k", size: each }, polled);
    const { atLeast, atMost } = durations.expected({ kind: "k", size }) ?? {};
    expect(atLeast === undefined ? undefined : [atLeast, atMost]).toEqual(expected);
    expect(durations.expected({ kind: "other", size })).toBeUndefined();
  });

  it("that was very long once does not delay the polls of others", () => {
    const durations = new Durations();
    const k = { kind: "k", size: 1 };
    for (const polled of [at(500, 450), at(3_600_000, 3_500_000), at(600, 550)]) durations.settled(k, polled);
    expect(durations.expected(k)?.atMost).toBe(600);
  });

  it("of a family is that of its fastest kind", () => {
    const durations = new Durations();
    const create = { kind: "create", family: "ovn", size: 3 };
    expect(durations.quickest(create)).toBeUndefined();
    durations.settled(create, at(30_000, 29_000));
    durations.settled({ ...create, kind: "update", size: 1 }, at(1_000, 900));
    durations.settled({ kind: "amphora's", family: "amphora", size: 1 }, at(200, 190));
    expect(durations.quickest({ ...create, kind: "delete" })).toBe(1_000);
    expect(durations.quickest({ kind: "create", size: 1 })).toBeUndefined();
  });

  /** Reads a transition of `length`, in a cloud whose lists take no time, until it is over. */
  const watched = (durations: Durations, length: number): { polls: number; late: number } => {
    const { atLeast, atMost } = durations.expected({ kind: "k", size: 1 }) ?? { atLeast: 0, atMost: 0 };
    let [after, time, polls] = [0, atLeast, 1];
    while (time < length) {
      [after, time] = [time, time < atMost ? atMost : time + Math.max(50, time / 16)];
      polls++;
    }
    durations.settled({ kind: "k", size: 1 }, { after, by: time });
    return { polls, late: time - length };
  };

  it("that is constant costs one poll each, one more in seven, and hardly any time", () => {
    const durations = new Durations();
    durations.settled({ kind: "k", size: 1 }, at(10_700, 9_600));
    const seen = Array.from({ length: 70 }, () => watched(durations, 10_000));
    expect(seen.reduce((sum, { polls }) => sum + polls, 0)).toBe(80);
    expect(Math.max(...seen.slice(3).map(({ late }) => late))).toBeLessThan(500);
  });

  it("that changes is followed by the estimate", () => {
    const durations = new Durations();
    for (let i = 0; i < 10; i++) watched(durations, 1_000);
    for (let i = 0; i < 4; i++) watched(durations, 4_000);
    expect(watched(durations, 4_000).polls).toBeLessThanOrEqual(2);
    for (let i = 0; i < 100; i++) watched(durations, 1_000);
    expect(watched(durations, 1_000).late).toBeLessThan(100);
  });
});
