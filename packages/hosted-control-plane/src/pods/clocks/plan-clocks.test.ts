import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EVERY, judgeClocks, LIMIT, type ClockFindings } from "./plan-clocks.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);

/** Reads once a minute: for each, the age of each node's Lease by the controller's clock; undefined: not renewed. */
function read(reads: readonly Readonly<Record<string, number | undefined>>[]): ClockFindings {
  let findings: ClockFindings = { memory: new Map(), off: new Map(), own: undefined };
  const last = new Map<string, number>();
  for (const [index, ages] of reads.entries()) {
    const now = START + index * EVERY;
    for (const [node, age] of Object.entries(ages)) if (age !== undefined) last.set(node, now - age);
    const renewals = Object.keys(ages).map((node) => ({ node, at: last.get(node) ?? 0 }));
    findings = judgeClocks(findings.memory, renewals, now);
  }
  return findings;
}

const same = (age: number | undefined) => ({ a: age });
const ahead = same(-5 * MINUTE);

describe("the clock of a node", () => {
  test.for<[string, readonly Record<string, number | undefined>[], number | undefined]>([
    ["is right", [same(3_000), same(9_000), same(0)], undefined],
    ["is 5 min ahead", [ahead, ahead, ahead], 5 * MINUTE],
    ["is 5 min behind", [same(5 * MINUTE), same(5 * MINUTE - 3_000), same(5 * MINUTE + 9_000)], -5 * MINUTE - 9_000],
    ["is 5 min ahead, and was judged once", [ahead, ahead], undefined],
    ["was 5 min ahead, and was corrected", [ahead, ahead, ahead, same(5_000)], undefined],
    ["is half a minute ahead", [same(-30_000), same(-30_000), same(-30_000)], undefined],
    ["is unknown: the node is lost", [same(3_000), same(undefined), same(undefined), same(undefined)], undefined],
    ["is unknown: the node renews late", [same(3_000), same(59_000), same(59_000), same(59_000)], undefined],
    ["was ahead, and the node is lost", [ahead, ahead, ahead, same(undefined)], undefined],
  ])("%s", ([, reads, expected]) => {
    expect(read(reads).off.get("a")).toBe(expected);
    expect(read(reads).own).toBeUndefined();
  });

  const all = (a: number, b: number, c: number) => ({ a, b, c });
  test.for<[string, Record<string, number>, Record<string, number>, number | undefined]>([
    ["one of three is ahead", all(-5 * MINUTE, 0, 5_000), { a: 5 * MINUTE }, undefined],
    [
      "two of three are ahead: it is this program's, and the third is behind them",
      all(-5 * MINUTE, -5 * MINUTE, 0),
      { c: -5 * MINUTE },
      -5 * MINUTE,
    ],
    ["all are ahead: it is this program's", all(-5 * MINUTE, -5 * MINUTE, -5 * MINUTE), {}, -5 * MINUTE],
    ["one of two is ahead", { a: -5 * MINUTE, b: 0 }, { a: 5 * MINUTE }, undefined],
  ])("with others: %s", ([, ages, expected, own]) => {
    const found = read([ages, ages, ages]);
    expect(Object.fromEntries(found.off)).toEqual(expected);
    expect(found.own).toBe(own);
  });

  const judged = (offset: number, reads = 1) =>
    judgeClocks(new Map([["a", { at: START - 1, reads }]]), [{ node: "a", at: START + offset }], START);
  test.for<[title: string, offset: number, reads: number]>([
    ["as far ahead as clocks may differ", LIMIT, 0],
    ["further ahead", LIMIT + 1, 2],
    ["as far behind as clocks may differ, and renewed right after the last read", -LIMIT - EVERY, 0],
    ["further behind", -LIMIT - EVERY - 1, 2],
  ])("is judged by how far it is off: %s", ([, offset, reads]) => {
    const { off, memory } = judged(offset);
    expect(off.get("a")).toBe(reads === 0 ? undefined : offset);
    expect(memory.get("a")).toEqual({ at: START + offset, reads });
    // It is reported when it was wrong twice in a row.
    expect(judged(offset, 0).off.size).toBe(0);
    expect(judged(offset, 0).memory.get("a")?.reads).toBe(reads === 0 ? 0 : 1);
  });

  test("is not judged when it is first seen, nor before the node writes again", () => {
    const renewals = [{ node: "a", at: START + 5 * MINUTE }];
    const first = judgeClocks(new Map(), renewals, START);
    expect([first.off.size, first.memory.get("a")]).toEqual([0, { at: START + 5 * MINUTE, reads: 0 }]);
    const again = judgeClocks(new Map([["a", { at: START + 5 * MINUTE, reads: 1 }]]), renewals, START);
    expect([again.off.size, again.memory.get("a")]).toEqual([0, { at: START + 5 * MINUTE, reads: 0 }]);
  });

  test("is forgotten with the node", () => {
    expect(judgeClocks(new Map([["gone", { at: 1, reads: 2 }]]), [], START)).toEqual({
      memory: new Map(),
      off: new Map(),
      own: undefined,
    });
  });

  test("is the program's own where most nodes differ from it, and no less than three", () => {
    const of = (...offsets: number[]) => {
      const names = offsets.map((offset, index) => ({ node: `n${index}`, at: START + offset }));
      return judgeClocks(new Map(names.map(({ node }) => [node, { at: 0, reads: 1 }])), names, START).own;
    };
    expect(of(5 * MINUTE, 5 * MINUTE)).toBeUndefined();
    expect(of(5 * MINUTE, 0, 4 * MINUTE)).toBe(-4 * MINUTE);
    expect(of(-9 * MINUTE, -7 * MINUTE, -8 * MINUTE, 0)).toBe(7 * MINUTE);
    expect(of(0, 0, 4 * MINUTE)).toBeUndefined();
  });

  test("is never reported where it is right, however late Leases are renewed and read", () => {
    const age = fc.option(fc.integer({ min: -LIMIT, max: EVERY + LIMIT }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(fc.record({ a: age, b: age, c: age, d: age }), { maxLength: 8 }), (reads) => {
        const found = read(reads);
        expect([...found.off, found.own]).toEqual([undefined]);
      }),
    );
  });
});
