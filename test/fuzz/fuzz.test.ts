import { describe, expect, test } from "vitest";
import { inputOf } from "./generate.ts";
import { KINDS, type Input } from "./input.ts";
import { limitsOf } from "./limits.ts";
import { Pace } from "./pace.ts";
import { minimized } from "./minimize.ts";
import { faultsOf } from "./run-input.ts";

const inputs = (count: number): Input[] => Array.from({ length: count }, (_, index) => inputOf(7, index));
const input = (body: string): Input => ({
  kind: "json",
  index: 0,
  steps: [{ method: "POST", path: "/api/v1/namespaces", headers: { a: "b" }, body }],
});
const reply = (status: number | undefined, text = "", rest: { bytes?: number; broken?: string } = {}) => ({
  status,
  text,
  bytes: text.length,
  ...rest,
});

describe("inputs of the fuzzer", () => {
  test("are the same for the same seed and index, and others for another seed", () => {
    for (let index = 0; index < 3 * KINDS.length; index += 1) expect(inputOf(7, index)).toEqual(inputOf(7, index));
    expect(inputOf(8, 0)).not.toEqual(inputOf(7, 0));
  });

  test(
    "are of all kinds in turn, within the size of a body, and change nothing that remains",
    { timeout: 300_000 },
    () => {
      const made = inputs(600);
      expect(new Set(made.map(({ kind }) => kind))).toEqual(new Set(KINDS));
      for (const { steps } of made) {
        expect(steps.length).toBeGreaterThan(0);
        for (const { method, path, body } of steps) {
          expect(body?.length ?? 0).toBeLessThanOrEqual(3 * 2 ** 20 + 1);
          // A delete is tried only, unless it takes away what the input created.
          if (method === "DELETE") expect(path).toMatch(/dryRun=All|\d/);
        }
      }
    },
  );
});

describe("the judgement of the fuzzer", () => {
  test("allows 200 ms for 100 kB, 50 times the bytes, and something for small inputs", () => {
    expect(limitsOf(100_000).milliseconds).toBe(200);
    expect(limitsOf(100).milliseconds).toBe(50);
    expect(limitsOf(100_000).answer).toBe(5_000_000);
  });

  test.each([
    ["a 500", reply(500, '{"message":"Internal error occurred: x"}'), "error"],
    ["an answer that is too large", reply(200, "", { bytes: 10_000_000 }), "large answer"],
    ["a connection that ended", reply(undefined, "", { broken: "stream closed with 2" }), "dead connection"],
  ])("finds %s", (_, found, is) => {
    expect(faultsOf(input("{}"), [found]).map((fault) => fault.is)).toEqual([is]);
  });

  test.each([
    ["a refusal", reply(422, "{}")],
    ["overload", reply(503, "{}")],
    ["an error that kube-apiserver answers so", reply(500, '{"message":"failed to create typed patch object (a)"}')],
    ["a head that HTTP/2 does not allow", reply(undefined, "", { broken: "NGHTTP2_PROTOCOL_ERROR" })],
  ])("does not find %s", (_, found) => {
    expect(faultsOf(input("{}"), [found])).toEqual([]);
  });
});

test("an input that fails is made smaller as long as it fails in the same way", async () => {
  const judge = (candidate: Input) =>
    Promise.resolve(
      String(candidate.steps[0]?.body).includes("bad")
        ? [{ is: "slow" as const, text: "" }]
        : [{ is: "error" as const, text: "" }],
    );
  const small = await minimized(input(`${"x".repeat(500)}bad${"y".repeat(700)}`), { is: "slow", text: "" }, { judge });
  const body = String(small.steps[0]?.body);
  expect(body).toContain("bad");
  expect(body.length).toBeLessThan(40);
});

test("the pace is never better than the best", () => {
  const pace = new Pace(3);
  for (let round = 0; round < 3; round += 1) expect(pace.now()).toBeGreaterThanOrEqual(1);
});
