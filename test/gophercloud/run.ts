import { spawn, spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import type { TestResult } from "../support/suite-record.ts";
import type { TestPackage } from "./packages.ts";

export type Variables = Readonly<Record<string, string>>;

export interface TestRun {
  /** What gophercloud is configured by, as the administrator. */
  readonly admin: Variables;
  /** The same for the tests that say, by skipping, that they want another account: by what they say. */
  readonly others: ReadonlyMap<string, Variables>;
  /** Over "package.Test". */
  readonly wanted: RegExp;
  /** Seconds that one test may take. */
  readonly limit: number;
  /** A test to run before one that fails for this reason, in its process: it relies on what others have configured. */
  readonly primer?: { readonly reason: RegExp; readonly test: string };
}

/** The tests of a package, one by one, each in a process of its own, so that one that hangs takes no other with it. */
export async function runPackage(tests: TestPackage, run: TestRun): Promise<TestResult[]> {
  const results: TestResult[] = [];
  for (const name of testsOf(tests).filter((test) => run.wanted.test(`${tests.name}.${test}`))) {
    const started = performance.now();
    const result = await runAsWanted(tests, name, run);
    results.push(result);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`${result.status} ${result.id} (${seconds} s)${result.reason === "" ? "" : `: ${result.reason}`}`);
  }
  return results;
}

function testsOf({ file }: TestPackage): string[] {
  const { stdout } = spawnSync(file, ["-test.list", "."], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line.startsWith("Test"));
}

async function runAsWanted(tests: TestPackage, name: string, run: TestRun): Promise<TestResult> {
  const first = await runPrimed(tests, name, { ...run, variables: run.admin });
  const other = first.status === "skip" ? run.others.get(first.reason) : undefined;
  return other ? runPrimed(tests, name, { ...run, variables: other }) : first;
}

type RunOptions = Pick<TestRun, "limit" | "primer"> & { readonly variables: Variables };

async function runPrimed(tests: TestPackage, name: string, { primer, ...how }: RunOptions): Promise<TestResult> {
  const alone = await runOne(tests, name, how);
  return primer?.reason.test(alone.reason) === true ? runOne(tests, name, { ...how, primer }) : alone;
}

async function runOne(tests: TestPackage, name: string, how: RunOptions): Promise<TestResult> {
  const pattern = how.primer ? `^(?:${how.primer.test}|${name})$` : `^${name}$`;
  const args = ["-test.v", "-test.run", pattern, "-test.timeout", `${how.limit}s`];
  const foreign = Object.entries(process.env).filter(([key]) => !key.startsWith("OS_"));
  const env = { ...Object.fromEntries(foreign), ...how.variables };
  const child = spawn(tests.file, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const parts: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => parts.push(part));
  await new Promise((done, reject) => {
    child.on("error", reject);
    child.on("close", done);
  });
  return judged(`${tests.name}.${name}`, Buffer.concat(parts).toString("utf8"), how.limit);
}

/** How the test whose output this is ended. */
export function judged(id: string, output: string, limit: number): TestResult {
  const test = id.slice(id.lastIndexOf(".") + 1);
  const text = stripVTControlCharacters(output);
  const said = (word: string) => new RegExp(`^--- ${word}: ${test} `, "m").test(text);
  if (said("SKIP")) return { id, status: "skip", reason: last(logged(text)) };
  if (said("PASS")) return { id, status: "success", reason: "" };
  if (text.includes("panic: test timed out"))
    return { id, status: "fail", reason: `not done within ${limit} s; ${why(text)}` };
  return { id, status: "fail", reason: why(text) };
}

/** What the test logged, without the places: a log of several lines is one. */
function logged(text: string): string[] {
  return text
    .split(/^ {4,}\S+\.go:\d+: /m)
    .slice(1)
    .map((entry) =>
      entry
        .replace(/^(?:--- |=== |FAIL|PASS|panic: )[^]*/m, "")
        .replaceAll(/\s+/g, " ")
        .trim(),
    );
}

const last = (lines: readonly string[]): string => lines.at(-1) ?? "";

/** The log of a failure, which includes the cleanup after it. */
function why(text: string): string {
  const panicked = /^panic: (?!test timed out).*/m.exec(text)?.[0];
  const lines = logged(text);
  const telling = lines.filter((line) => /^(?:Failure in|Unable to|Error|Failed|Timed out)|Expected HTTP/.test(line));
  return (panicked ?? telling[0] ?? last(lines)).slice(0, 400);
}
