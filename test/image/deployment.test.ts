/** The systemd unit and the workflow file, as the programs that read them understand them. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "causeway-deployment-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const has = (program: string, ...args: readonly string[]): boolean => spawnSync(program, args).status === 0;
const unit = readFileSync(join(root, "deploy/systemd/causeway.service"), "utf8");
const program = "/opt/causeway/node_modules/.bin/causeway";

describe("the systemd unit", () => {
  test.skipIf(!has("systemd-analyze", "--version"))("is valid (needs systemd-analyze)", () => {
    expect(unit).toContain(`ExecStart=${program} up `);
    const path = join(folder, "causeway.service");
    // The program is where an installation puts it, which this machine need not have.
    writeFileSync(path, unit.replace(program, process.execPath));
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
    // Units of the machine are read, too: what is wrong with those is not ours.
    expect(stderr.split("\n").filter((line) => line.includes("causeway.service"))).toEqual([]);
    expect(status).toBe(0);
  });

  test("names only options that `causeway up` has", () => {
    const command = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? "";
    const options = [...command.matchAll(/ (--[a-z-]+)/g)].map(([, option = ""]) => option);
    const main = join(root, "packages/causeway/src/main.ts");
    const help = execFileSync(process.execPath, [main, "up", "--help"], { encoding: "utf8" });
    expect(options.length).toBeGreaterThan(0);
    for (const option of options) expect(help).toMatch(new RegExp(`${option}\\b`));
  });
});

describe("the workflow file", () => {
  const workflow = readFileSync(join(root, ".github/workflows/ci.yaml"), "utf8");

  test.skipIf(!has("go", "version"))("is valid (needs Go and its module proxy)", () => {
    const actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7";
    const args = ["run", actionlint, "-no-color", ".github/workflows/ci.yaml"];
    const { status, stdout } = spawnSync("go", args, { cwd: root, encoding: "utf8" });
    expect(stdout).toBe("");
    expect(status).toBe(0);
  });

  test("runs only scripts that package.json has", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
    const named = [...workflow.matchAll(/npm (?:run )?([a-z:]+)$/gm)].map(([, name = ""]) => name);
    expect(named).toContain("check");
    for (const name of named.filter((one) => one !== "ci")) expect(Object.keys(scripts)).toContain(name);
  });
});
