/** One run at a time, after which the devcloud is as it was, however the run ends. */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join, resolve } from "node:path";
import { eventually } from "../../support/processes.ts";
import { devcloudFolder } from "./devcloud.ts";
import { alive, lives, readTraces, undo, writeTraces } from "./traces.ts";

const GUARD = resolve(import.meta.dirname, "guard.ts");
const TIMEOUT = 20 * 60_000;

/**
 * Cleans up after a run that was killed, as its guard does; starts the guard of this one. What is returned ends the
 * guard.
 */
export async function takeTurn(): Promise<() => void> {
  const others = readTraces()?.owners ?? [];
  const [run] = others;
  if (run && run.pid !== process.pid && lives(run))
    throw new Error(`another run, process ${run.pid}, migrates a cluster of the devcloud`);
  // Its guard is about to clean up.
  await eventually(TIMEOUT, () => readTraces() === undefined || !others.some(lives));
  const left = readTraces();
  if (left !== undefined) await undo(left);
  const log = openSync(join(devcloudFolder(), "log/magnum-migration.log"), "a");
  const guard = spawn(process.execPath, [GUARD], { stdio: ["pipe", log, log], detached: true });
  closeSync(log);
  guard.stdin?.on("error", () => {});
  writeTraces({ owners: [alive(process.pid), alive(guard.pid ?? 0)] });
  return () => void guard.stdin?.end();
}
