import { expect, test } from "vitest";
import { judged } from "./run.ts";

const judge = (output: string) => judged("v2.TestOne", output, 60);

test("a test that passed has no reason, whatever it logged", () => {
  const output = "=== RUN   TestOne\n    one.go:3: Created\n--- PASS: TestOne (0.04s)\nPASS\n";
  expect(judge(output)).toEqual({ id: "v2.TestOne", status: "success", reason: "" });
});

test("a skipped test says why", () => {
  const output = "=== RUN   TestOne\n    one.go:3: must be admin to run this test\n--- SKIP: TestOne (0.00s)\nPASS\n";
  expect(judge(output)).toMatchObject({ status: "skip", reason: "must be admin to run this test" });
});

test("the reason of a failure is what was unexpected, not what was tidied up afterwards", () => {
  const output = [
    "=== RUN   TestOne",
    "    one.go:3: Attempting to create a thing",
    '    one.go:9: \u001b[1;31mFailure in one.go, line 9: unexpected error \u001b[0m\u001b[1;33m"Expected HTTP response code [201]"\u001b[0m',
    "    one.go:20: Deleted the thing",
    "--- FAIL: TestOne (0.04s)",
    "FAIL",
  ].join("\n");
  const reason = 'Failure in one.go, line 9: unexpected error "Expected HTTP response code [201]"';
  expect(judge(output)).toMatchObject({ status: "fail", reason });
});

test("a test that takes too long has failed", () => {
  const output =
    "=== RUN   TestOne\n    one.go:3: Waiting\npanic: test timed out after 60s\nrunning tests:\n\tTestOne (60s)\n";
  expect(judge(output)).toMatchObject({ status: "fail", reason: "not done within 60 s; Waiting" });
});

test("a test that printed nothing has failed", () => {
  expect(judge("")).toMatchObject({ status: "fail" });
});
