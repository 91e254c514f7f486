import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterEach, describe, it } from "vitest";
import { blocksOf } from "./blocks.ts";
import { end, missing, play } from "./play.ts";

/** The tutorials, run as a reader would: in an empty folder, with the checkout's commands on PATH. */
const root = resolve(import.meta.dirname, "../..");
const folder = join(root, "docs/tutorials");

const running: ChildProcess[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) await end(child);
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

describe("tutorial", () => {
  const pages = readdirSync(folder).filter((name) => name.endsWith(".md"));
  for (const name of pages) {
    const blocks = blocksOf(readFileSync(join(folder, name), "utf8"));
    if (blocks.length === 0) continue;
    const reason = missing("kubectl") ? " (needs kubectl)" : "";
    it.skipIf(reason !== "")(`${name} does what it says${reason}`, { timeout: 600_000 }, async () => {
      const dir = mkdtempSync(join(tmpdir(), "tutorial-"));
      folders.push(dir);
      for (const entry of ["package.json", "package-lock.json", "node_modules", "packages", "scripts", "deploy"])
        symlinkSync(join(root, entry), join(dir, entry));
      const environment: NodeJS.ProcessEnv = {
        ...process.env,
        PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env["PATH"] ?? ""}`,
        NO_COLOR: "1",
      };
      delete environment["KUBECONFIG"];
      await play(blocks, { dir, environment, running });
    });
  }
});
