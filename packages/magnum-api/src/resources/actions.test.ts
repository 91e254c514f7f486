import { expect, test } from "vitest";
import { refusedRemovals } from "./actions.ts";

test.each([
  { named: 0, from: 1, to: 2 },
  { named: 0, from: 2, to: 2 },
  { named: 1, from: 2, to: 1 },
  { named: 1, from: 3, to: 1 },
])("$named named nodes may be removed when $from become $to", ({ named, from, to }) => {
  expect(refusedRemovals(named, from, to)).toBeUndefined();
});

test.each([
  { named: 1, from: 1, to: 2 },
  { named: 1, from: 2, to: 2 },
  { named: 3, from: 3, to: 1 },
])("$named named nodes are too many when $from become $to", ({ named, from, to }) => {
  expect(refusedRemovals(named, from, to)).toContain(`names ${named} nodes`);
});
