/*
 * What scripts/bundle.ts runs once to write the snapshot of `causeway apiserver`: everything up to here is in the
 * snapshot's heap, and a start begins with the function below. `node --build-snapshot` gives it the file of the facts
 * it is built with. What reads the process (its arguments, its environment, the clock, random bytes) must not run while
 * it is built.
 */
import { readFileSync } from "node:fs";
import { startupSnapshot } from "node:v8";
import { Command } from "@commander-js/extra-typings";
import { BUNDLE, CHECKOUT, holds, type SnapshotFacts } from "./bundled.js";
import { runCommandLine } from "./command-line.ts";
import { apiserver } from "./commands/apiserver/action.ts";
import { apiserverCommand } from "./commands/apiserver/command.ts";
import { settled } from "./terminal/settle.ts";

/** Where start.js is in a checkout. A checkout that was copied with its snapshot is judged by its own files. */
const START = "/packages/causeway/src/start.js";
const { stamps, firstObjects } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as SnapshotFacts;

startupSnapshot.setDeserializeMainFunction(() => {
  const [, start = "", ...words] = process.argv;
  const checkout = start.slice(0, -START.length);
  if (!stamps.every((stamp) => holds(stamp, checkout))) {
    process.execve?.(process.execPath, [process.execPath, "--max-semi-space-size=4", start, ...words]);
  }
  // As in start.js.
  Buffer.poolSize = 8 * 1024;
  const bundle = `${checkout}${BUNDLE.slice(CHECKOUT.length)}`;
  const programs = { program: `${bundle}/worker.js`, watchdog: `${bundle}/watchdog.js` };
  const run = (signal: AbortSignal) =>
    apiserverCommand((flags) => apiserver(flags, signal, { firstObjects, ...programs }));
  void runCommandLine((signal) => settled(new Command("causeway").addCommand(run(signal))));
});
