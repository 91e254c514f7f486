import { spawn } from "node:child_process";
import { createReadStream, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { TestResult } from "./suite-record.ts";

/** A Python that has stestr, testtools and subunit, as tempest of Debian or a virtual environment brings. */
export interface Python {
  readonly stestr: string;
  readonly python: string;
  /** Where its packages are. */
  readonly packages: string;
}

export interface StestrRun {
  readonly with: Python;
  /** A folder of its own: repository of results, logs; tests are run in it. */
  readonly folder: string;
  /** Where the tests are searched for, dotted: to import all of tempest takes each worker half a minute. */
  readonly package: string;
  /** Regular expression over the names of tests. */
  readonly tests: string;
  readonly workers: number;
  /** Those of the tests that are run each in a process of its own: the first one takes away what the others need. */
  readonly isolated?: RegExp | undefined;
  readonly env: NodeJS.ProcessEnv;
}

const reader = resolve(import.meta.dirname, "../../tools/subunit-results.py");

/** Runs tests by stestr and gives what became of each; a class that could not be set up is one failure of its name. */
export async function runStestr(run: StestrRun): Promise<TestResult[]> {
  const { folder, tests, workers } = run;
  const { stestr, packages } = run.with;
  rmSync(join(folder, ".stestr"), { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const where = join(packages, run.package.replaceAll(".", "/"));
  const configuration = `[DEFAULT]\ntest_path=${where}\ntop_dir=${packages}\ngroup_regex=([^\\.]*\\.)*\n`;
  writeFileSync(join(folder, ".stestr.conf"), configuration);
  const options = { cwd: folder, env: { ...process.env, ...run.env } };
  await ended(spawn(stestr, ["init"], { ...options, stdio: "ignore" }));
  const results: TestResult[] = [];
  for (const part of run.isolated ? await parts(run, run.isolated) : [tests]) {
    // Its exit code is not 0 after a failed test; the results give the details.
    await ended(
      spawn(stestr, ["run", "--concurrency", String(workers), part], {
        ...options,
        stdio: ["ignore", "inherit", "inherit"],
      }),
    );
    const last = spawn(stestr, ["last", "--subunit"], { ...options, stdio: ["ignore", "pipe", "inherit"] });
    results.push(...(await parsed(last.stdout, run.with)));
  }
  // What is set up and torn down for each of several tests is one failure of its class.
  return [...new Map(results.map((result) => [result.id, result])).values()];
}

/** One expression for all tests that can share a process, and one for each that cannot. */
async function parts({ folder, tests, env, with: { stestr } }: StestrRun, isolated: RegExp): Promise<string[]> {
  const list = spawn(stestr, ["list", tests], { cwd: folder, env: { ...process.env, ...env }, stdio: "pipe" });
  const shared: string[] = [];
  const alone: string[] = [];
  for await (const line of createInterface({ input: list.stdout })) {
    const id = line.replace(/\[.*$/, "").trim();
    if (id !== "") (isolated.test(id) ? alone : shared).push(`^${id.replaceAll(".", "\\.")}(\\[|$)`);
  }
  return [...(shared.length > 0 ? [shared.join("|")] : []), ...alone];
}

/**
 * What a run that was broken off had found by then: stestr keeps it in a file "tmp…", and renames it if it has the
 * time.
 */
export async function brokenOff(folder: string, python: Python): Promise<TestResult[]> {
  const kept = join(folder, ".stestr");
  const file = readdirSync(kept).find((name) => name.startsWith("tmp") || name === "0");
  if (file === undefined) throw new Error(`${kept} holds no run.`);
  const found = await parsed(createReadStream(join(kept, file)), python);
  // What was under way when it ended has failed for no reason, or for that one.
  return found.filter(({ status, reason }) => status !== "fail" || !/^$|KeyboardInterrupt/.test(reason));
}

async function parsed(stream: NodeJS.ReadableStream, { python }: Python): Promise<TestResult[]> {
  const read = spawn(python, [reader], { stdio: ["pipe", "pipe", "inherit"] });
  stream.pipe(read.stdin);
  const found: TestResult[] = [];
  for await (const line of createInterface({ input: read.stdout })) {
    const result = JSON.parse(line) as TestResult;
    found.push({ ...result, id: result.id.replace(/\[[^\]]*\]$/, "") });
  }
  return found;
}

function ended(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((done, reject) => {
    child.on("error", reject);
    child.on("close", (code) => done(code ?? 1));
  });
}
