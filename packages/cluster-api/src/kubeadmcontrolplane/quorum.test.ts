import { describe, expect, test } from "vitest";
import { member } from "../testing/control-plane-observed.ts";
import { survivesJoining, survivesReplacing, survivesWithout } from "./quorum.ts";

describe("etcd's quorum", () => {
  const members = (...problems: (string | undefined)[]) =>
    problems.map((problem, n) => member(String(n), problem === undefined ? {} : { problem }));
  test.each<[without: boolean, replacing: boolean, ...problems: (string | undefined)[]]>([
    [true, true, "down", undefined, undefined],
    [true, false, undefined, undefined],
    [false, false, undefined],
    [false, false, undefined, "down", undefined],
    [true, true, "down", undefined, undefined, undefined, "down"].slice(0, 7) as never,
    [true, false, undefined, "down", undefined, undefined],
  ])("without the first: %s, while it is replaced: %s", (without, replacing, ...problems) => {
    expect([survivesWithout(members(...problems), "0"), survivesReplacing(members(...problems), "0")]).toEqual([
      without,
      replacing,
    ]);
  });
  test.each<[survives: boolean, ...problems: (string | undefined)[]]>([
    [false, undefined],
    [true, undefined, undefined],
    [false, undefined, "down"],
    [true, undefined, undefined, undefined],
    [false, undefined, undefined, "down"],
  ])("survives that one more joins and does not serve: %s", (survives, ...problems) => {
    expect(survivesJoining(members(...problems))).toBe(survives);
  });
  test("a learner has no vote", () => {
    const all = [member("0"), member("1"), member("2", { isLearner: true })];
    expect(survivesReplacing(all, "0")).toBe(false);
  });
});
