import { IdleClock } from "@causeway/foundation/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { NamedReads } from "./named-reads.ts";

let clock: IdleClock;
beforeEach(() => (clock = new IdleClock()));
afterEach(() => clock.close());

interface Thing {
  readonly id: number;
  readonly name: string | null;
}
const things: readonly Thing[] = [
  { id: 1, name: "a" },
  { id: 2, name: "b" },
  { id: 3, name: "a" },
  { id: 4, name: null },
];
const { signal } = new AbortController();

function setUp(pages: number, fails = false) {
  const calls: string[] = [];
  const result = (call: string, found: readonly Thing[]): Promise<readonly Thing[]> => {
    calls.push(call);
    return fails ? Promise.reject(new Error("no answer")) : Promise.resolve(found);
  };
  const reads = new NamedReads<Thing>({
    clock,
    one: (name) => result(name, things),
    all: () => result("all", things),
    pages: () => pages,
  });
  const named = async (name: string) => (await reads.named(name, signal)).map(({ id }) => id);
  return { calls, named };
}

it.each<[string, number, readonly string[], readonly string[]]>([
  ["one name by itself", 1, ["a"], ["a"]],
  ["several callers of one name once", 1, ["a", "a", "a"], ["a", "a"]],
  ["the first alone, and those that come meanwhile with one list", 1, ["a", "b", "c"], ["a", "all"]],
  ["as many as a list has pages one by one", 2, ["a", "b", "c"], ["a", "b", "c"]],
])("the search for volumes by name reads %s", async (_name, pages, names, expected) => {
  const { calls, named } = setUp(pages);
  const found = await Promise.all(names.map(named));
  const ids: Readonly<Record<string, readonly number[]>> = { a: [1, 3], b: [2], c: [] };
  expect(found).toEqual(names.map((name) => ids[name]));
  expect(calls).toEqual(expected);
});

it("the search for volumes by name reports a failed read to every caller, and reads again for the next one", async () => {
  const { calls, named } = setUp(1, true);
  const results = await Promise.allSettled(["a", "b", "c"].map(named));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  await expect(named("a")).rejects.toThrow("no answer");
  expect(calls).toEqual(["a", "all", "a"]);
});
