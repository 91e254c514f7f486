import { execFileSync, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { blocksOf, type Block } from "./blocks.ts";
import { makePlace, reasonAgainst, type Place } from "./place.ts";
import { end, play, reasonToSkip } from "./play.ts";

/**
 * The commands of README.md and of the tutorials, as a stranger runs them: in a fresh clone, by a user without rights,
 * in a root file system that has npm and kubectl and little more. What a page marks with `needs=PROGRAM` runs outside
 * of it, where that program is.
 */
const root = resolve(import.meta.dirname, "../..");
const CLONE = "causeway";
/** What the folder of a tutorial has of the clone, whose commands are on PATH. */
const LINKS = ["package.json", "package-lock.json", "node_modules", "packages", "scripts", "deploy", "tools"];
const reason = reasonAgainst();
const needs = reason === undefined ? "" : ` (needs ${reason})`;

/** The blocks that can run here. Each of the others is a skipped test with its reason, so that they are counted. */
function withoutSkipped(page: string, blocks: readonly Block[]): readonly Block[] {
  return blocks.filter((block) => {
    const why = reasonToSkip(block);
    if (why !== undefined) it.skip(`${page}, line ${block.line}: ${block.commands[0]?.command ?? block.file} (${why})`);
    return why === undefined;
  });
}

let place: Place;
const running: ChildProcess[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) await end(child);
});

describe.skipIf(reason !== undefined)("a stranger's machine", () => {
  beforeAll(async () => {
    place = await makePlace();
    execFileSync("git", ["clone", "--quiet", "--depth", "1", `file://${root}`, join(place.home, CLONE)]);
    place.give(CLONE);
    const [program, args] = place.shell("npm ci --prefer-offline --no-audit --no-fund", CLONE);
    const installed = spawnSync(program, [...args], { env: place.environment, encoding: "utf8" });
    expect(installed.status, installed.stderr).toBe(0);
  }, 600_000);
  afterAll(async () => place.remove(), 300_000);

  const readme = withoutSkipped("README.md", blocksOf(readFileSync(join(root, "README.md"), "utf8")));
  it(`README.md does what it says in a fresh clone${needs}`, { timeout: 600_000 }, async () => {
    const commands = readme.flatMap((block) => block.commands.map(({ command }) => command));
    expect(commands[0]).toMatch(/^npm ci && npm start$/);
    expect(commands.length).toBeGreaterThan(5);
    await play(readme, { place, folder: CLONE, environment: { ...place.environment }, running });
  });

  const tutorials = join(root, "docs/tutorials");
  for (const name of readdirSync(tutorials).filter((file) => file.endsWith(".md"))) {
    const blocks = withoutSkipped(`docs/tutorials/${name}`, blocksOf(readFileSync(join(tutorials, name), "utf8")));
    if (blocks.length === 0) continue;
    it(`tutorial ${name} does what it says${needs}`, { timeout: 600_000 }, async () => {
      const folder = name.replace(/\.md$/, "");
      const dir = join(place.home, folder);
      mkdirSync(dir);
      for (const entry of LINKS) symlinkSync(join("..", CLONE, entry), join(dir, entry));
      place.give(folder);
      const path = `${place.inside(join(CLONE, "node_modules/.bin"))}:${place.environment["PATH"] ?? ""}`;
      await play(blocks, { place, folder, environment: { ...place.environment, PATH: path }, running });
      for (const child of running.splice(0)) await end(child);
      rmSync(dir, { recursive: true, force: true });
    });
  }
});
