/**
 * `npm run test:fuzz`: sends generated requests to the API server and fails for each that is slow, large, gets
 * 500, or that ends a connection or the process. `--inputs N --seed N [--seconds N] [--only KIND] [--slack N] [--out
 * FOLDER]`, or `--replay SEED:INDEX` for one input. `--seed commit` takes the day of the last commit.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Campaign, type Finding } from "./campaign.ts";
import { inputOf } from "./generate.ts";
import { bytesOf, KINDS, type Input, type Kind } from "./input.ts";
import { minimized, shown } from "./minimize.ts";

const { values } = parseArgs({
  options: {
    inputs: { type: "string", default: "10000" },
    first: { type: "string", default: "0" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    /** The most time for a run. */
    seconds: { type: "string", default: "Infinity" },
    replay: { type: "string" },
    /** So many times the CPU time that an input may cost, where other load makes the time uncertain. */
    slack: { type: "string", default: "1" },
    out: { type: "string", default: resolve(import.meta.dirname, "../../.build/fuzz") },
    "no-minimize": { type: "boolean", default: false },
  },
});
const only = kindOf(values.only);
const [seed = 1, replayed] = (values.replay ?? given(values.seed)).split(":").map(Number);
const count = replayed === undefined ? Number(values.inputs) : 1;
const first = replayed ?? Number(values.first);
const campaign = new Campaign(Number(values.slack));
const failed = new Map<number, Finding[]>();
const begun = performance.now();
let finished = 0;
let reported = begun;

/**
 * As it is given, or the day of the last commit as a number: inputs change from day to day, and each commit has its
 * own.
 */
function given(text: string): string {
  if (text !== "commit") return text;
  const day = spawnSync("git", ["log", "-1", "--format=%cs"], {
    encoding: "utf8",
    cwd: import.meta.dirname,
  }).stdout.trim();
  return (day || new Date().toISOString().slice(0, 10)).replaceAll("-", "");
}

function kindOf(name: string | undefined): Kind | undefined {
  if (name === undefined) return undefined;
  const found = KINDS.find((kind) => kind === name);
  if (!found) throw new Error(`--only ${name}: there are ${KINDS.join(", ")}`);
  return found;
}

function* inputs(): Generator<Input> {
  for (let index = first; index < first + count && !isTimeUp(); index += 1) yield inputOf(seed, index, only);
}

/** Inputs that a run has no time for are skipped. */
function isTimeUp(): boolean {
  return replayed === undefined && performance.now() - begun > 1000 * Number(values.seconds);
}

async function found(finding: Finding): Promise<void> {
  const { input, fault } = finding;
  const earlier = failed.get(input.index) ?? [];
  failed.set(input.index, [...earlier, finding]);
  console.log(`FAILED ${input.kind} ${seed}:${input.index} (${bytesOf(input)} bytes): ${fault.is}: ${fault.text}`);
  console.log(`  npm run test:fuzz -- --replay ${seed}:${input.index}${only ? ` --only ${only}` : ""}`);
  if (earlier.length > 0) return;
  mkdirSync(values.out, { recursive: true });
  const file = join(values.out, `${seed}-${input.index}-${input.kind}.json`);
  const small = values["no-minimize"] ? input : await minimized(input, fault, campaign);
  writeFileSync(file, shown(small, fault));
  console.log(`  ${bytesOf(small)} bytes show the same: ${file}`);
}

function progress(): void {
  finished += 1;
  const now = performance.now();
  if (now - reported < 10_000) return;
  reported = now;
  const rate = finished / ((now - begun) / 1000);
  console.log(`${finished} of ${count} inputs, ${failed.size} failed, ${rate.toFixed(0)}/s`);
}

try {
  await campaign.run(inputs(), found, progress);
} finally {
  await campaign.close();
}
const seconds = Math.round((performance.now() - begun) / 1000);
console.log(
  `seed ${seed}: ${finished} inputs in ${seconds} s, ${campaign.judged} judged alone, ${campaign.starts} starts of the server`,
);
console.log(`${finished - failed.size} passed, ${failed.size} failed, ${count - finished} skipped`);
process.exitCode = failed.size === 0 ? 0 : 1;
