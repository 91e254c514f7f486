import type { TestResult } from "../support/suite-record.ts";

const LINE = /^ {4}--- (PASS|FAIL|SKIP): TestConformance\/(\S+) \(/;
const STATUS = { PASS: "success", FAIL: "fail", SKIP: "skip" } as const;

/** The tests of the suite, from what `go test -v` has printed. Its subtests are part of them. */
export function resultsOf(output: string): TestResult[] {
  const lines = output.split("\n");
  return lines.flatMap((line) => {
    const [, verdict, id = ""] = LINE.exec(line) ?? [];
    const status = STATUS[verdict as keyof typeof STATUS] as TestResult["status"] | undefined;
    if (!status) return [];
    const reason = status === "skip" ? skipReason(lines, id) : status === "fail" ? failureOf(lines, id) : "";
    return [{ id, status, reason }];
  });
}

/** "Skipping NAME: suite does not support FEATURE": the feature. */
function skipReason(lines: readonly string[], id: string): string {
  const line = lines.find((each) => each.includes(`Skipping ${id}:`)) ?? "";
  return /does not support (\S+)/.exec(line)?.[1]?.replace(/[,.]$/, "") ?? line.trim();
}

/** The last condition that was not as it should be, or the message of the assertion. */
function failureOf(lines: readonly string[], id: string): string {
  const from = lines.findIndex((line) => line.startsWith(`=== RUN   TestConformance/${id}`));
  const next = lines.findIndex(
    (line, i) => i > from && /^=== RUN {3}TestConformance\/[^/]+$/.test(line) && !line.endsWith(`/${id}`),
  );
  const own = lines.slice(from, next === -1 ? undefined : next);
  const finding =
    own.findLast((line) => /with Reason|was not in conditions|expected .* got|Error: {2,}/.test(line)) ?? "";
  return finding
    .replace(/^.*?\.go:\d+: (\S+Z: )?/, "")
    .replace(/^\s*Error:\s*/, "")
    .trim()
    .slice(0, 300);
}
