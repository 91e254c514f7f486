import { describe, expect, test } from "vitest";
import { mergedSummary, rowsOf, type Current, type FileResult } from "./summary.ts";

const result = (given: Partial<FileResult> = {}): FileResult => ({
  text: "now",
  mutants: 10,
  killed: 6,
  explained: 1,
  survived: 2,
  ...given,
});
const current = (given: Partial<Current> = {}): Current => ({ ...result(), file: "a.ts", isUntried: false, ...given });

describe("the summary of mutation runs", () => {
  const unknown = { killed: 0, explained: 0, survived: 0 };
  test.each<[string, FileResult | undefined, Partial<Current>, FileResult | undefined]>([
    ["keeps what another checkout has found out", result(), { ...unknown, isUntried: true }, result()],
    ["forgets it when the file has another text", result({ text: "old" }), { ...unknown, isUntried: true }, undefined],
    ["takes what this checkout has found out", undefined, { killed: 7 }, result({ killed: 7 })],
    [
      "replaces it by as much from this checkout",
      result(),
      { killed: 8, survived: 0 },
      result({ killed: 8, survived: 0 }),
    ],
    ["is not replaced by less", result(), { survived: 0 }, result()],
    ["prefers a part of the present text", result({ text: "old" }), { survived: 0 }, result({ survived: 0 })],
    ["has no row for a file that no run has judged", undefined, { ...unknown, isUntried: true }, undefined],
  ])("%s", (_title, kept, own, expected) => {
    const found = mergedSummary(kept ? { "a.ts": kept } : {}, [current(own)]);
    expect(found).toEqual(expected ? { "a.ts": expected } : {});
  });

  test("drops files that are gone, and sorts the others", () => {
    const found = mergedSummary({ "gone.ts": result() }, [current({ file: "b.ts" }), current()]);
    expect(Object.keys(found)).toEqual(["a.ts", "b.ts"]);
  });

  test("counts mutants without a result as not judged", () => {
    const scopes = [{ name: "plans", goal: 0.9, files: ["a.ts", "b.ts"] }];
    const mutants = new Map([
      ["a.ts", 10],
      ["b.ts", 5],
    ]);
    expect(rowsOf(scopes, { "a.ts": result() }, mutants)).toEqual([
      { name: "plans", goal: 0.9, mutants: 15, killed: 6, explained: 1, survived: 2, unknown: 6 },
    ]);
  });
});
