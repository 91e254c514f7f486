import { describe, expect, it } from "vitest";
import { closePoll, nextPoll, pace, restAfter } from "./pace.ts";

describe("a transition of which something is known", () => {
  it("that is expected to be long is polled after 20 s, and whenever its age has doubled", () => {
    const expected = { atLeast: 3_600_000, atMost: 3_600_000 };
    const polls = [0, 20_000, 40_000, 1_920_000].map((polledAt) =>
      nextPoll({ since: 0, expected, polledAt, took: 100 }),
    );
    expect(polls).toEqual([20_000, 40_000, 80_000, 3_600_000]);
  });

  it("that is polled a little earlier once is polled next when it has usually finished", () => {
    const next = (atLeast: number, atMost: number) =>
      nextPoll({ since: 0, expected: { atLeast, atMost }, polledAt: atLeast, took: 5 });
    expect([next(970, 1_000), next(9_700, 10_000), next(938, 1_000)]).toEqual([1_020, 10_000, 1_000]);
    // Between, where that is not known to the thirtieth part.
    const polls = [9_984];
    for (let i = 0; i < 3; i++) {
      const expected = { atLeast: 9_984, atMost: 10_560 };
      polls.push(Math.round(nextPoll({ since: 0, expected, polledAt: polls.at(-1) ?? 0, took: 5 })));
    }
    expect(polls).toEqual([9_984, 10_296, 10_560, 11_220]);
  });

  it("that takes longer than expected is polled soon, then less and less often", () => {
    const expected = { atLeast: 500, atMost: 500 };
    const overdue = (polledAt: number) => nextPoll({ since: 0, expected, polledAt, took: 5 }) - polledAt;
    expect([500, 1_000, 8_000, 80_000, 8_000_000].map(overdue)).toEqual([50, 62.5, 500, 5_000, 60_000]);
  });
});

describe("a transition of which nothing is known", () => {
  it("is polled after a tenth of a second in a near cloud, then whenever it is a fifth older, an eighth, each 5 s", () => {
    const after = (polledAt: number) => closePoll({ since: 0, polledAt, took: 5 }) - polledAt;
    const polls = [0, 400, 800, 8_000, 80_000, 160_000, 8_000_000];
    expect(polls.map(after)).toEqual([100, 100, 160, 1_000, 5_000, 20_000, 60_000]);
  });

  it.each([
    ["half a second", 500, [500, 600, 720]],
    ["two seconds: not before one, and at two", 2_000, [1_000, 1_200, 1_440, 1_728, 2_000, 2_400]],
    ["an hour: not before one second", 3_600_000, [1_000, 1_200, 1_440]],
  ])("of a family is polled when the others have finished: %s", (_name, hint, expected) => {
    const polls: number[] = [];
    for (const _each of expected) polls.push(closePoll({ since: 0, polledAt: polls.at(-1) ?? 0, took: 5, hint }));
    expect(polls).toEqual(expected);
  });
});

describe("the pace of a poller", () => {
  it.each([
    [5, 15],
    [700, 2_100],
    [3_000, 8_000],
    [60_000, 120_000],
  ])("whose list takes %i ms leaves the cloud alone until %i ms after its begin", (took, rest) => {
    expect(restAfter(took)).toBe(rest);
  });

  const still = { took: 100, hurried: false, age: undefined, hardlyChanges: false };
  it.each([
    ["nothing changes", still, 60_000],
    ["nothing changes in a type that hardly changes", { ...still, hardlyChanges: true }, 300_000],
    ["a caller hurries", { ...still, hurried: true }, 1_000],
    ["a caller hurries on a near cloud", { ...still, hurried: true, took: 5 }, 250],
    ["something has just begun to change", { ...still, age: 0 }, 1_000],
    ["something has been changing for a minute", { ...still, age: 60_000 }, 7_500],
    ["something has been stuck for a day", { ...still, age: 86_400_000 }, 60_000],
  ])("follows from the state of its list: %s", (_name, situation, milliseconds) =>
    expect(pace(situation)).toBe(milliseconds),
  );
});
