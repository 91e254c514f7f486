import { spawn } from "node:child_process";
import { createReadStream, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { TestResult } from "../support/suite-record.ts";

export interface TempestRun {
  /** A folder of its own: configuration, repository of results, logs. */
  readonly folder: string;
  /** tempest.conf. */
  readonly configuration: string;
  /** Where the tests are looked for, dotted: to import all of tempest takes each worker half a minute. */
  readonly package: string;
  /** Regular expression over the names of tests. */
  readonly tests: string;
  readonly workers: number;
}

const dists = "/usr/lib/python3/dist-packages";
const tools = resolve(import.meta.dirname, "../../tools/tempest");
/** Seconds that one test may take. */
const TEST_TIMEOUT = "240";

/** Runs tempest's tests by stestr and gives what became of each; a class that could not be set up is one failure of its name. */
export async function runTempest(run: TempestRun): Promise<TestResult[]> {
  const { folder, configuration, tests, workers } = run;
  rmSync(join(folder, ".stestr"), { recursive: true, force: true });
  mkdirSync(join(folder, "lock"), { recursive: true });
  writeFileSync(join(folder, "tempest.conf"), configuration, { mode: 0o600 });
  const where = `${dists}/${run.package.replaceAll(".", "/")}`;
  const stestrConf = `[DEFAULT]\ntest_path=${where}\ntop_dir=${dists}\ngroup_regex=([^\\.]*\\.)*\n`;
  writeFileSync(join(folder, ".stestr.conf"), stestrConf);
  const env = {
    ...process.env,
    TEMPEST_CONFIG_DIR: folder,
    TEMPEST_CONFIG: "tempest.conf",
    OS_TEST_TIMEOUT: TEST_TIMEOUT,
    PYTHONPATH: join(tools, "site"),
  };
  const options = { cwd: folder, env };
  await ended(spawn("stestr", ["init"], { ...options, stdio: "ignore" }));
  // Its exit code tells that a test failed, which the results tell better.
  await ended(
    spawn("stestr", ["run", "--concurrency", String(workers), tests], {
      ...options,
      stdio: ["ignore", "inherit", "inherit"],
    }),
  );
  return lastResults(options);
}

/** What a run that was broken off had found by then: stestr keeps it in a file "tmp…", and renames it if it has the time. */
export async function brokenOff(folder: string): Promise<TestResult[]> {
  const kept = join(folder, ".stestr");
  const file = readdirSync(kept).find((name) => name.startsWith("tmp") || name === "0");
  if (file === undefined) throw new Error(`${kept} holds no run.`);
  const found = await parsed(createReadStream(join(kept, file)), { cwd: folder, env: process.env });
  // What was under way when it ended has failed for no reason, or for that one.
  return found.filter(({ status, reason }) => status !== "fail" || !/^$|KeyboardInterrupt/.test(reason));
}

interface Where {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

function lastResults(options: Where): Promise<TestResult[]> {
  const last = spawn("stestr", ["last", "--subunit"], { ...options, stdio: ["ignore", "pipe", "inherit"] });
  return parsed(last.stdout, options);
}

async function parsed(stream: NodeJS.ReadableStream, options: Where): Promise<TestResult[]> {
  const read = spawn("/usr/bin/python3", [join(tools, "results.py")], {
    ...options,
    stdio: ["pipe", "pipe", "inherit"],
  });
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
