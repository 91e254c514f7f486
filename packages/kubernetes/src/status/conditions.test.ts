import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Condition } from "../types/meta.ts";
import { getCondition, isTrue, microTimestamp, setCondition, timestamp } from "./conditions.ts";

const at = Date.UTC(2026, 0, 1);
const condition = (type: string, status: Condition["status"], reason = "R") => ({ type, status, reason });

describe("setting a condition", () => {
  test("moves the transition time only when the status moves", () => {
    const first = setCondition(undefined, condition("Ready", "False"), at);
    const reworded = setCondition(first, { ...condition("Ready", "False", "Other"), message: "m" }, at + 5000);
    const turned = setCondition(reworded, condition("Ready", "True"), at + 9000);
    expect(first[0]?.lastTransitionTime).toBe("2026-01-01T00:00:00Z");
    expect(reworded).toEqual([
      { type: "Ready", status: "False", reason: "Other", message: "m", lastTransitionTime: "2026-01-01T00:00:00Z" },
    ]);
    expect(turned[0]).toEqual({ ...condition("Ready", "True"), lastTransitionTime: "2026-01-01T00:00:09Z" });
  });

  test("keeps the list it was given, the order, and one condition of each type", () => {
    const types = fc.constantFrom("A", "B", "C");
    const statuses = fc.constantFrom<Condition["status"]>("True", "False", "Unknown");
    fc.assert(
      fc.property(fc.array(fc.tuple(types, statuses)), (steps) => {
        let list: Condition[] = [];
        for (const [i, [type, status]] of steps.entries()) {
          const before = structuredClone(list);
          const next = setCondition(list, condition(type, status), at + i * 1000);
          expect(list).toEqual(before);
          expect(next.map((each) => each.type).slice(0, list.length)).toEqual(list.map((each) => each.type));
          expect(new Set(next.map((each) => each.type)).size).toBe(next.length);
          expect(isTrue(next, type)).toBe(status === "True");
          list = next;
        }
      }),
    );
  });
});

test("a condition that is not there is not true", () => {
  expect(getCondition([], "Ready")).toBeUndefined();
  expect(isTrue(undefined, "Ready")).toBe(false);
});

test("times in conditions are written as the API writes them", () => {
  expect(timestamp(at + 1234)).toBe("2026-01-01T00:00:01Z");
  expect(microTimestamp(at + 1234)).toBe("2026-01-01T00:00:01.234000Z");
});
