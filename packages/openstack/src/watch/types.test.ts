import { expect, it } from "vitest";
import type { Volume } from "../types/block-storage.ts";
import { volumes } from "./types.ts";

it.each([
  ["creating", 3_600_000, true],
  ["attaching", 3_600_000, true],
  ["reserved", 59_000, true],
  ["reserved", 60_000, false],
  ["in-use", 0, false],
  ["error_deleting", 0, false],
])("a volume that has had status %s for %i ms changes by itself: %s", (status, unchanged, expected) => {
  expect(volumes.inTransition({ status } as Volume, unchanged)).toBe(expected);
});

it("a volume that Nova has reserved is on its way to being attached", () => {
  const kinds = ["reserved", "attaching"].map((status) => volumes.transition?.({ status } as Volume).kind);
  expect(new Set(kinds).size).toBe(1);
});
