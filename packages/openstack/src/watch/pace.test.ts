import { describe, expect, it } from "vitest";
import { Durations } from "./durations.ts";
import { closeLook, nextLook, pace } from "./pace.ts";

describe("the length of a transition", () => {
  it.each<[string, readonly (readonly [size: number, time: number])[], number, number[] | undefined]>([
    ["nothing", [], 1, undefined],
    ["the same size", [[2, 1_000]], 2, [970, 970]],
    ["the same size, far quicker once", [3, 500, 600].map((time) => [2, time] as const), 2, [485, 485]],
    ["a smaller one: as long, or longer by as much as it is larger", [[2, 1_000]], 20, [970, 9_700]],
    ["a larger one: its share, or as long", [[20, 1_000]], 2, [97, 970]],
    [
      "both",
      [
        [2, 1_000],
        [20, 3_000],
      ],
      10,
      [970, 2_910],
    ],
    [
      "both, the larger one quicker",
      [
        [2, 1_000],
        [20, 500],
      ],
      10,
      [970, 970],
    ],
  ])("is expected from what was seen: %s", (_name, seen, size, expected) => {
    const durations = new Durations();
    for (const [of, time] of seen) durations.settled({ kind: "k", size: of }, time);
    const { atLeast, atMost } = durations.expected({ kind: "k", size }) ?? {};
    expect(atLeast === undefined ? undefined : [atLeast, atMost]).toEqual(expected);
    expect(durations.expected({ kind: "other", size })).toBeUndefined();
  });

  it("that lasted very long once does not make the others wait", async () => {
    const durations = new Durations();
    const k = { kind: "k", size: 1 };
    for (const taken of [500, 3_600_000, 600]) durations.settled(k, taken);
    expect(durations.expected(k)?.atMost).toBe(582);
    const hour = { atLeast: 3_600_000, atMost: 3_600_000 };
    const looks = [0, 20_000, 40_000, 1_920_000].map((polledAt) =>
      nextLook({ since: 0, expected: hour, polledAt, took: 100 }),
    );
    expect(looks).toEqual([20_000, 40_000, 80_000, 3_600_000]);
  });

  it("that takes longer than was expected is looked at soon, then ever less often", () => {
    const expected = { atLeast: 500, atMost: 500 };
    const overdue = (polledAt: number) => nextLook({ since: 0, expected, polledAt, took: 5 }) - polledAt;
    expect([500, 1_000, 8_000, 80_000, 8_000_000].map(overdue)).toEqual([50, 62.5, 500, 5_000, 60_000]);
  });
});

describe("a transition of which nothing is known", () => {
  it("is looked at every tenth of a second in a near cloud, then at each eighth of its age", () => {
    const after = (polledAt: number) => closeLook({ since: 0, polledAt, took: 5 }) - polledAt;
    expect([0, 800, 8_000, 80_000, 8_000_000].map(after)).toEqual([100, 100, 1_000, 10_000, 60_000]);
  });
});

describe("the pace", () => {
  const still = { took: 100, hurried: false, age: undefined, hardlyChanges: false };
  it.each([
    ["all is still", still, 60_000],
    ["all is still in a type that hardly changes", { ...still, hardlyChanges: true }, 300_000],
    ["somebody hurries", { ...still, hurried: true }, 1_000],
    ["somebody hurries a near cloud", { ...still, hurried: true, took: 5 }, 250],
    ["something has just begun to change", { ...still, age: 0 }, 1_000],
    ["something has been changing for a minute", { ...still, age: 60_000 }, 7_500],
    ["something has been stuck for a day", { ...still, age: 86_400_000 }, 60_000],
  ])("when %s", (_name, situation, milliseconds) => expect(pace(situation)).toBe(milliseconds));
});
