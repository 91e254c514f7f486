/** What the Jobs of an upgrade say when a program of OpenStack's finds or does something wrong. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const programs = join(import.meta.dirname, "../../programs");
let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "upgrade-programs-"));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** Runs a program with a played one of the service: its outputs and statuses, run by run. */
function run(program: string, played: string, runs: readonly (readonly [output: string, status: number])[]) {
  for (const [index, [output]] of runs.entries()) writeFileSync(join(dir, `output-${index}`), output);
  const script = `#!/bin/sh
run=$(cat "${dir}/runs" 2>/dev/null || echo 0)
echo $((run + 1)) > "${dir}/runs"
echo "$*" > "${dir}/arguments"
cat "${dir}/output-$run"
exit $(echo ${runs.map(([, status]) => status).join(" ")} | cut -d ' ' -f $((run + 1)))
`;
  writeFileSync(join(dir, played), script, { mode: 0o755 });
  const word = join(dir, "word");
  const env = { PATH: [dir, process.env["PATH"]].join(delimiter), TERMINATION_LOG: word };
  const { status, stdout } = spawnSync("/bin/sh", [join(programs, program), "nova"], { env, encoding: "utf8" });
  return {
    status,
    stdout,
    runs: Number(readFileSync(join(dir, "runs"), "utf8")),
    arguments: readFileSync(join(dir, "arguments"), "utf8").trim(),
    word: existsSync(word) ? readFileSync(word, "utf8").trim() : undefined,
  };
}

const row = (text: string) => `| ${text.padEnd(40)} |`;
const rule = `+${"-".repeat(42)}+`;
const table = (...blocks: readonly (readonly string[])[]) =>
  [rule, row("Upgrade Check Results"), rule, ...blocks.flatMap((block) => [...block.map(row), rule])].join("\n");
const good = ["Check: Cells v2", "Result: Success", "Details: None"];
const warning = ["Check: Cinder API", "Result: Warning", "Details: it does not respond"];
const bad = [
  "Check: Older than N-1 computes",
  "Result: Failure",
  "Details: the minimum compute service",
  "  level in your system is 54",
];

describe("the check of an upgrade", () => {
  test.each([
    ["passes", good, 0],
    ["passes with warnings", warning, 1],
  ])("%s", (_, block, status) => {
    const result = run("upgrade-check.sh", "nova-status", [[table(good, block), status]]);
    expect(result).toMatchObject({ status: 0, word: undefined, stdout: `${table(good, block)}\n` });
    expect(result.arguments).toBe("--config-dir /etc/nova/nova.conf.d upgrade check");
  });

  test("says which checks failed, and why", () => {
    const result = run("upgrade-check.sh", "nova-status", [[table(good, bad, warning), 2]]);
    expect(result).toMatchObject({
      status: 2,
      word: "Check: Older than N-1 computes Result: Failure Details: the minimum compute service level in your system is 54",
    });
    expect(result.stdout).toContain("Cinder API");
  });

  test("says its last line where it broke off", () => {
    const output = "Traceback (most recent call last):\nConnectionError: no route to the database";
    expect(run("upgrade-check.sh", "nova-status", [[output, 255]])).toMatchObject({
      status: 255,
      word: "ConnectionError: no route to the database",
    });
  });
});

describe("migrations of rows", () => {
  test("run until none is left", () => {
    const result = run("online-migrations.sh", "nova-manage", [
      ["50 rows matched", 1],
      ["3 rows matched", 1],
      ["", 0],
    ]);
    expect(result).toMatchObject({ status: 0, runs: 3, word: undefined });
    expect(result.stdout).toContain("50 rows matched\n3 rows matched\n");
    expect(result.arguments).toBe("--config-dir /etc/nova/nova.conf.d db online_data_migrations --max-count 500");
  });

  test("say which of them failed, and end with their status", () => {
    const output = [
      "Error attempting to run <function populate_uuids at 0x7f00>",
      "Error attempting to run <bound method PciDevice.populate_dev_uuids of <class 'nova.x'>>",
      "Error attempting to run fill_in",
      "Some migrations failed unexpectedly. Check log for details.",
    ].join("\n");
    expect(
      run("online-migrations.sh", "nova-manage", [
        ["7 rows", 1],
        [output, 2],
      ]),
    ).toMatchObject({
      status: 2,
      runs: 2,
      word: "migrations that failed: PciDevice.populate_dev_uuids fill_in populate_uuids",
    });
  });

  test("say their last line where they broke off", () => {
    expect(run("online-migrations.sh", "nova-manage", [["lost the database", 255]])).toMatchObject({
      status: 255,
      word: "lost the database",
    });
  });
});
