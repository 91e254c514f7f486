import { execFileSync, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterAll, expect, it } from "vitest";
import { blocksOf } from "./blocks.ts";
import { end, missing, play } from "./play.ts";

/**
 * The commands of README.md as a stranger runs them: in a fresh clone, with an empty home folder and nothing in the
 * environment but a PATH on which npm is, whose Node may be older than the project's.
 */
const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "readme-"));
const running: ChildProcess[] = [];
afterAll(async () => {
  for (const child of running) await end(child);
  rmSync(folder, { recursive: true, force: true });
});

const [clone, home] = [join(folder, "causeway"), join(folder, "home")];
const path = (process.env["PATH"] ?? "").split(delimiter).filter((dir) => !dir.includes("node_modules"));
const environment: NodeJS.ProcessEnv = {
  PATH: path.join(delimiter),
  HOME: home,
  NO_COLOR: "1",
  // Only what the registry gave before: a stranger has no such cache, and the registry is not under test.
  npm_config_cache: process.env["npm_config_cache"] ?? join(homedir(), ".npm"),
};
const reason = ["git", "npm", "kubectl"].find((program) => missing(program, environment));

it.skipIf(reason !== undefined)(
  `README.md does what it says in a fresh clone${reason === undefined ? "" : ` (needs ${reason})`}`,
  { timeout: 600_000 },
  async () => {
    mkdirSync(home);
    execFileSync("git", ["clone", "--quiet", "--depth", "1", `file://${root}`, clone]);
    const blocks = blocksOf(readFileSync(join(clone, "README.md"), "utf8"));
    const commands = blocks.flatMap((block) => block.commands.map(({ command }) => command));
    expect(commands[0]).toMatch(/^npm ci && npm start$/);
    expect(commands.length).toBeGreaterThan(5);
    const installed = spawnSync("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"], {
      cwd: clone,
      env: environment,
      encoding: "utf8",
    });
    expect(installed.status, installed.stderr).toBe(0);
    await play(blocks, { dir: clone, environment, running });
  },
);
