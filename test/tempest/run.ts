import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { runStestr, type Python, type StestrRun } from "../support/stestr.ts";
import type { TestResult } from "../support/suite-record.ts";

/** Debian's. */
export const debian: Python = {
  stestr: "stestr",
  python: "/usr/bin/python3",
  packages: "/usr/lib/python3/dist-packages",
};

export interface TempestRun extends Pick<StestrRun, "folder" | "package" | "tests" | "workers" | "isolated"> {
  /** tempest.conf. */
  readonly configuration: string;
}

/** Seconds that one test may take. */
const TEST_TIMEOUT = "240";

/** Runs tempest's tests and gives what became of each. */
export function runTempest({ configuration, ...run }: TempestRun): Promise<TestResult[]> {
  mkdirSync(join(run.folder, "lock"), { recursive: true });
  writeFileSync(join(run.folder, "tempest.conf"), configuration, { mode: 0o600 });
  const env = {
    TEMPEST_CONFIG_DIR: run.folder,
    TEMPEST_CONFIG: "tempest.conf",
    OS_TEST_TIMEOUT: TEST_TIMEOUT,
    PYTHONPATH: resolve(import.meta.dirname, "../../tools/tempest/site"),
  };
  return runStestr({ ...run, with: debian, env });
}
