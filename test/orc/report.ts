import type { TestResult } from "../support/suite-record.ts";

/** What kuttl writes with `--report JSON --report-granularity test`. */
interface Report {
  readonly testsuite?: readonly Suite[];
}
interface Suite {
  readonly testsuite?: readonly Suite[];
  readonly testcase?: readonly TestCase[];
}
interface TestCase {
  readonly name: string;
  readonly failure?: { readonly message?: string; readonly text?: string };
}

/** How the tests of a report ended; the whole output gives the reasons that the report does not have. */
export function resultsOf(report: unknown, output: string): readonly TestResult[] {
  const cases = casesOf(report as Report);
  return cases.map(({ name, failure }) =>
    failure
      ? { id: name, status: "fail", reason: reasonOf(name, output) || (failure.message ?? failure.text ?? "") }
      : { id: name, status: "success", reason: "" },
  );
}

function casesOf({ testsuite = [], testcase = [] }: Suite): readonly TestCase[] {
  return [...testcase, ...testsuite.flatMap(casesOf)];
}

/** The last complaint that kuttl printed about a test before it gave up: "resource X: .status.y: value mismatch". */
function reasonOf(name: string, output: string): string {
  const lines = output.split("\n");
  const own = lines.findIndex(
    (line) => line.includes(`case.go:`) && line.includes("failed in step") && inTest(lines, line, name),
  );
  const from =
    own < 0 ? lines.findIndex((line) => line.includes(`${name}/`) && line.includes("test step failed")) : own;
  if (from < 0) return "";
  return lines
    .slice(from, from + 60)
    .filter((line) => /value mismatch|no resources matched|not found|failed|denied|invalid/i.test(line))
    .slice(0, 3)
    .map((line) => line.replace(/^\s*(?:logger\.go:\d+: )?(?:\d\d:\d\d:\d\d \| \S+ \| )?/, "").trim())
    .join("; ");
}

function inTest(lines: readonly string[], line: string, name: string): boolean {
  const before = lines.slice(0, lines.indexOf(line)).toReversed();
  return (
    before
      .find((other) => /^=== (?:CONT|NAME|RUN)/.test(other))
      ?.trim()
      .endsWith(`/${name}`) === true
  );
}
