/**
 * The soak of the informers: `npm run bench -- informers [--minutes 30] [--objects 5000] [--seed 1] [--json FILE]`. A
 * line a minute; then what it was like over all. Ends with 1 when a change was missed or memory grew.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { soak, type SoakRound } from "../soak/soak.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    objects: { type: "string", default: "5000" },
    seed: { type: "string", default: "1" },
    json: { type: "string" },
  },
});
const interval = 2_000;
const objects = Number(values.objects);
const rounds = Number(values.minutes);

const row = (cells: readonly (string | number)[]) => cells.map((cell) => String(cell).padStart(10)).join("");
console.log(row(["minute", "objects", "changes", "faults", "calls", "heap MiB", "at rest s", "complete"]));
const done: SoakRound[] = [];
await soak({
  objects,
  rounds,
  changing: 55_000,
  interval,
  failing: 1 / 12,
  seed: Number(values.seed),
  onRound(round) {
    done.push(round);
    const { changes, faults, calls, heapMiB, seconds, complete } = round;
    console.log(
      row([done.length, round.objects, changes, faults, calls, heapMiB.toFixed(1), seconds.toFixed(1), `${complete}`]),
    );
  },
});

const seconds = done.reduce((sum, round) => sum + round.seconds, 0);
const [first, last] = [done[Math.min(2, done.length - 1)], done.at(-1)];
const growth = first && last ? last.heapMiB / first.heapMiB : Number.NaN;
const missed = done.filter((round) => !round.complete).length + (last?.unfounded ?? 0);
const callsPerMinute = ((last?.calls ?? 0) / seconds) * 60;
const summary = {
  objects,
  minutes: rounds,
  changes: last?.changes,
  faults: last?.faults,
  missed,
  growth,
  callsPerMinute,
};
console.log(
  `missed ${missed}; memory of the last minute to the third ${growth.toFixed(2)}; ${callsPerMinute.toFixed(0)} calls a minute for lists ${interval / 1000} s apart`,
);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ ...summary, rounds: done }, null, 2)}\n`);
process.exitCode = missed === 0 && growth < 1.25 ? 0 : 1;
