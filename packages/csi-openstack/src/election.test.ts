import { expect, test } from "vitest";
import { elect, type Candidate } from "./election.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");
const of = (id: string, second = 0, status = "available"): Candidate => ({
  id,
  status,
  created_at: `2026-01-01T00:59:${String(second).padStart(2, "0")}.000000`,
});

test.each([
  ["creates when there is none", { existing: [] }, { type: "none" }],
  ["waits for one that is being deleted", { existing: [of("a", 0, "deleting")] }, { type: "deleting" }],
  ["returns the oldest", { existing: [of("b", 2), of("a", 1)] }, { type: "winner", winner: "a", others: ["b"] }],
  ["gives up its own for an older one", { existing: [of("b", 2), of("a", 1)], own: "b" }, { type: "yield", id: "b" }],
  [
    "keeps its own when it is the oldest",
    { existing: [of("a", 1)], own: "a" },
    { type: "winner", winner: "a", others: [] },
  ],
  ["gives up its own of the same age", { existing: [of("a", 1), of("b", 1)], own: "a" }, { type: "yield", id: "a" }],
  ["waits for two of the same age", { existing: [of("a", 1), of("b", 1)] }, { type: "tie" }],
  [
    "returns one of two of the same age when their calls have ended",
    { existing: [of("b", 1), of("a", 1)], now: NOW + 3_600_000 },
    { type: "winner", winner: "a", others: ["b"] },
  ],
])("the election of one object for a name %s", (_, ballot, expected) => {
  const result = elect({ now: NOW, ...ballot });
  const seen =
    result.type === "winner"
      ? { ...result, winner: result.winner.id, others: result.others.map(({ id }) => id) }
      : result;
  expect(seen).toEqual(expected);
});
