import { expect, test } from "vitest";
import { resultsOf } from "./report.ts";

const report = {
  testsuite: [
    {
      name: "tests",
      testcase: [
        { classname: "tests", name: "a-works" },
        { classname: "tests", name: "b-fails", failure: { message: "failed in step 1-create", text: "step 1" } },
      ],
    },
  ],
};

test("a report of kuttl becomes one result for each test", () => {
  const output = [
    "=== NAME  kuttl/harness/b-fails",
    "    logger.go:42: 10:00:00 | b-fails/1-create | test step failed 1-create",
    "    case.go:399: failed in step 1-create",
    "    case.go:401: resource Network:kuttl/b-fails: .status.mtu: value mismatch, expected: 1442 != actual: 1500",
  ].join("\n");
  expect(resultsOf(report, output)).toEqual([
    { id: "a-works", status: "success", reason: "" },
    {
      id: "b-fails",
      status: "fail",
      reason: expect.stringContaining("value mismatch, expected: 1442 != actual: 1500") as unknown,
    },
  ]);
});

test("without output, the reason is the report's own", () => {
  expect(resultsOf(report, "")[1]).toEqual({ id: "b-fails", status: "fail", reason: "failed in step 1-create" });
});
