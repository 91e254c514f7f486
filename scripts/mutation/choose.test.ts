import { describe, expect, test } from "vitest";
import { Chooser } from "./choose.ts";
import { Imports } from "./imports.ts";
import { judgement } from "./judges.ts";
import type { Answer, Coverage } from "./protocol.ts";

const target = { file: "plan.ts", source: "", mutants: [], first: 1 };

/** A test file with one test of so many milliseconds, which reaches mutant 1. */
const reaching = (file: string, time: number, more: Partial<Coverage> = {}): Coverage => ({
  file,
  loading: [],
  hooks: [],
  tests: [{ title: `test of ${file}`, time, reached: [1] }],
  time,
  failed: [],
  ...more,
});

describe("the choice of test files for a mutant", () => {
  const many = Array.from({ length: 14 }, (_, i) => reaching(`${String(i).padStart(2, "0")}.test.ts`, i));
  const calling = ["a", "b", "c"].map((name, i) => reaching(name, 1_500 + i, { loading: [1] }));
  const other = reaching("other", 1, { tests: [{ title: "elsewhere", time: 1, reached: [2] }] });
  test.each<[string, Coverage[], string[], string[], string[]]>([
    ["all, the cheapest first", [reaching("b", 2), reaching("a", 1), other], [], ["a", "b"], []],
    ["no more than cost two seconds together", [reaching("a", 1_000), reaching("b", 1_000)], [], ["a"], ["b"]],
    ["one in any case", [reaching("a", 9_000), reaching("b", 9_001)], [], ["a"], ["b"]],
    ["what an earlier run left out", [reaching("a", 1_000), reaching("b", 1_000)], ["a"], ["b"], []],
    ["at most twelve", many, [], many.slice(0, 12).map(({ file }) => file), ["12.test.ts", "13.test.ts"]],
    ["two that call it while they load", calling, [], ["a", "a", "b"], ["c"]],
  ])("is %s; the others that reach it are left out", (_title, coverage, tried, run, leftOut) => {
    const choice = new Chooser(coverage, [], new Imports("/none")).choose(1, target, new Set(tried));
    expect([...choice.ordinary, ...choice.loading].map(({ file }) => file)).toEqual(run);
    expect([...choice.leftOut]).toEqual(leftOut);
  });
});

describe("the judgement of a mutant", () => {
  const spoiled = (file: string): Answer => ({ type: "spoiled", number: 1, file });
  const killed = (killer?: string): Answer => ({ type: "judged", number: 1, killer, memory: 0 });
  test.each<[string, (Answer | undefined)[], Awaited<ReturnType<typeof judgement>>, string[]]>([
    ["is the test that fails", [killed("a fails")], { by: "a fails", spoiled: [] }, ["ab"]],
    ["is none where it survives", [killed()], { by: undefined, spoiled: [] }, ["ab"]],
    ["is a timeout where the process does not respond", [undefined], { by: "timeout", spoiled: [] }, ["ab"]],
    ["is that of a second process", [spoiled("a"), killed("a fails")], { by: "a fails", spoiled: [] }, ["ab", "ab"]],
    [
      "is that of the other files where one is spoiled twice",
      [spoiled("a"), spoiled("a"), killed("b fails")],
      { by: "b fails", spoiled: ["a"] },
      ["ab", "ab", "b"],
    ],
    [
      "ends where all are spoiled, and names them",
      [spoiled("a"), spoiled("b"), spoiled("a"), spoiled("b")],
      { by: undefined, spoiled: ["a", "b"] },
      ["ab", "ab", "ab", "b"],
    ],
  ])("%s", async (_title, answers, expected, asked) => {
    const left = answers.values();
    const runs: string[] = [];
    const found = await judgement(
      (files) => {
        runs.push(files.map(({ file }) => file).join(""));
        return Promise.resolve(left.next().value);
      },
      [
        { file: "a", time: 1 },
        { file: "b", time: 1 },
      ],
    );
    expect([found, runs]).toEqual([expected, asked]);
  });

  test("requests nothing where no file is chosen", async () => {
    const ask = () => Promise.reject(new Error("it was requested"));
    expect(await judgement(ask, [])).toEqual({ by: undefined, spoiled: [] });
  });
});
