import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CRASH_CHILD } from "./crash-child.ts";
import { openStore } from "./index.ts";

const ROUNDS = 4;

/** Runs a writer and kills it with SIGKILL after so many acknowledged writes; returns the lines it got out. */
async function writeAndKill(dir: string, round: number, writes: number): Promise<string[]> {
  const child = spawn(process.execPath, [CRASH_CHILD, dir, String(round)], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk: string) => {
    output += chunk;
    if (output.split("\n").length > writes) child.kill("SIGKILL");
  });
  await once(child, "close");
  return output.split("\n").slice(0, -1);
}

it(
  "the store loses no acknowledged write and uses no revision twice, however often the writer is killed",
  { timeout: 300_000 },
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "crash-"));
    const acknowledged = new Map<number, string>();
    let newest = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const [opened, ...lines] = await writeAndKill(dir, round, 40 + round * 60);
      expect(Number(opened?.split(" ")[1])).toBeGreaterThanOrEqual(newest);
      for (const line of lines) {
        const [name = "", revision] = line.split(" ");
        expect(acknowledged.has(Number(revision))).toBe(false);
        acknowledged.set(Number(revision), name);
        newest = Math.max(newest, Number(revision));
      }
    }
    const store = openStore({ dir });
    for (const [revision, name] of acknowledged) {
      expect(store.get({ cluster: "", resource: "/configmaps", namespace: "default", name })?.revision).toBe(revision);
    }
    expect(store.revision).toBeGreaterThanOrEqual(newest);
    const { items } = store.list({ cluster: "", resource: "/configmaps" });
    expect(new Set(items.map((item) => item.revision)).size).toBe(items.length);
    expect(items.length).toBe(store.revision);
    await store.close();
    rmSync(dir, { recursive: true });
  },
);
