/** Waits for the end of a run, seen by the end of its input, and undoes what the run has left. */
import { readTraces, undo } from "./traces.ts";

process.on("SIGINT", () => {});
process.stdin.resume().on("end", () => {
  const left = readTraces();
  if (left === undefined) return;
  console.log(`${new Date().toISOString()} the run ended without cleaning up after itself`);
  undo(left).then(
    () => console.log(`${new Date().toISOString()} cleaned up`),
    (error: unknown) => {
      console.log(error);
      process.exitCode = 1;
    },
  );
});
