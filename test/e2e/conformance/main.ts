/** Started by `npm run test:e2e:conformance`; docs/reference/conformance.md says what its arguments do. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Outcome } from "../report.ts";
import { PLANES, type Environment, type Place, type PlaneName } from "./interface.ts";
import { writePage } from "./page.ts";
import { keep, keepNames, readNames, readRecord } from "./record.ts";
import { conformanceSpecs, runSpecs, type Suite } from "./specs.ts";

const MINUTE = 60_000;
/** Specs that one process runs: how often it has to start, and what is lost when it is ended. */
const PIECE = 8;
/** Of one piece, however busy the machine is. */
const PIECE_MINUTES = 40;
/** How often the load is read while a worker waits for it. */
const LOOK = 5_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    focus: { type: "string", default: "" },
    missing: { type: "boolean", default: false },
    failed: { type: "boolean", default: false },
    minutes: { type: "string", default: "600" },
    "at-once": { type: "string", default: "3" },
    load: { type: "string", default: "Infinity" },
    kubeconfig: { type: "string" },
    hold: { type: "boolean", default: false },
    page: { type: "boolean", default: false },
  },
});

function environment(): Environment {
  const text = process.env["CAUSEWAY_CONFORMANCE"];
  if (text === undefined) throw new Error("CAUSEWAY_CONFORMANCE is not set: run npm run test:e2e:conformance");
  return JSON.parse(text) as Environment;
}

async function open(plane: PlaneName, dir: string): Promise<Place> {
  if (values.kubeconfig !== undefined) return { kubeconfig: values.kubeconfig, close: async () => {} };
  if (plane === "plain") return (await import("./plain.ts")).startPlain(environment(), dir);
  if (plane === "process") return (await import("./process.ts")).startProcess(environment());
  return (await import("./pods.ts")).startPods(environment(), dir);
}

/** Keeps the cluster until the process is requested to end. */
function hold({ kubeconfig }: Place): Promise<void> {
  console.log(`kubeconfig: ${kubeconfig}`);
  return new Promise((done) => {
    const alive = setInterval(() => {}, MINUTE);
    for (const signal of ["SIGINT", "SIGTERM"] as const)
      process.once(signal, () => {
        clearInterval(alive);
        done();
      });
  });
}

/** The suite prints them only once for a release: to start it takes seconds, minutes where the machine is busy. */
async function namesOf(plane: PlaneName, suite: Suite): Promise<readonly string[]> {
  const kept = readNames();
  if (kept.length > 0 && readRecord(plane).version === environment().version) return kept;
  const names = await conformanceSpecs(suite);
  keepNames(names);
  return names;
}

/** Those that the arguments choose. */
function chosen(plane: PlaneName, names: readonly string[]): string[] {
  const { specs } = readRecord(plane);
  return names.filter((name) => {
    const state = specs[name]?.state;
    if (values.missing) return state === undefined;
    return !values.failed || (state !== undefined && state !== "passed" && state !== "skipped");
  });
}

/** Runs them piece by piece, and keeps each piece's outcomes at once. */
async function play(plane: PlaneName, suite: Suite, names: readonly string[]): Promise<Outcome[]> {
  let end = Date.now() + Number(values.minutes) * MINUTE;
  // The second time ends it at once.
  process.once("SIGTERM", () => {
    end = 0;
  });
  const all: Outcome[] = [];
  const workers = Number(values["at-once"]);
  let [number, running] = [0, 0];
  const mustWait = (): boolean => running > 0 && (loadavg()[0] ?? 0) >= Number(values.load);
  const worker = async (waiting: string[]): Promise<void> => {
    while (waiting.length > 0 && Date.now() < end) {
      if (mustWait()) {
        await pause(LOOK);
        continue;
      }
      running += 1;
      const piece = waiting.splice(0, Math.min(PIECE, Math.ceil(waiting.length / workers)));
      const outcomes = await runSpecs(suite, `piece-${(number += 1)}`, piece, PIECE_MINUTES);
      for (const { name, state, seconds, failure = "" } of outcomes)
        console.log(`${plane}: ${state} ${name} (${seconds} s)${failure === "" ? "" : `: ${failure.slice(0, 600)}`}`);
      for (const name of piece.filter((one) => !outcomes.some((o) => o.name === one)))
        console.log(`${plane}: no outcome of ${name}`);
      running -= 1;
      keep(plane, environment().version, outcomes);
      all.push(...outcomes);
    }
  };
  const isSerial = (name: string): boolean => name.includes("[Serial]");
  const isSlow = (name: string): boolean => name.includes("[Slow]");
  // In the time of a slow one many others run.
  const together = [...names.filter((name) => !isSlow(name)), ...names.filter(isSlow)].filter((n) => !isSerial(n));
  await Promise.all(Array.from({ length: workers }, () => worker(together)));
  await worker(names.filter(isSerial));
  return all;
}

async function main(): Promise<number> {
  if (values.page) {
    writePage();
    return 0;
  }
  const plane = PLANES.find((name) => positionals.includes(name));
  if (plane === undefined) throw new Error(`name a control plane: ${PLANES.join(", ")}`);
  const dir = mkdtempSync(join(tmpdir(), `conformance-${plane}-`));
  const place = await open(plane, dir);
  try {
    if (values.hold) {
      await hold(place);
      return 0;
    }
    const logs = process.env["CAUSEWAY_E2E_LOGS"] ?? join(dir, "logs");
    mkdirSync(logs, { recursive: true });
    const { suite: program, binaries } = environment();
    const suite = { program, kubeconfig: place.kubeconfig, kubectl: join(binaries, "kubectl"), dir: logs };
    const names = await namesOf(plane, suite);
    const focus = new RegExp(values.focus);
    const wanted = chosen(
      plane,
      names.filter((name) => focus.test(name)),
    );
    console.log(`${plane}: ${wanted.length} of ${names.length} conformance specs`);
    const outcomes = await play(plane, suite, wanted);
    writePage();
    const count = (state: string): number => outcomes.filter((outcome) => outcome.state === state).length;
    const [passed, skipped] = [count("passed"), count("skipped")];
    const failed = outcomes.length - passed - skipped;
    const left = wanted.length - outcomes.length;
    if (left > 0) console.log(`${left} specs have no outcome`);
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
    return failed > 0 || left > 0 || outcomes.length === 0 ? 1 : 0;
  } finally {
    await place.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

process.exitCode = await main();
