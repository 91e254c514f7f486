/**
 * The API server in figures, next to a real kube-apiserver with etcd: the same machine, the same disk, one load
 * generator, turn by turn in one run. Both sync every write to disk before they acknowledge it. A start is from before
 * the first process to the first answer, on an empty database, with authority, certificates and keys in place and the
 * programs' files in the page cache (npm ci has made ours what it starts from). `--only WORD` runs the parts whose name
 * has it; `--seconds N` is the length of one turn.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, homedir, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildLoad, load, type Flags, type Measured } from "./apiserver/load.ts";
import { makeClusters, startOurs } from "./apiserver/ours.ts";
import { printed, rounded, roundedFigures, type Figures, type Row } from "./apiserver/rows.ts";
import { costOf, makeNamespace, type Subject } from "./apiserver/subject.ts";
import { hasUpstream, startUpstream } from "./apiserver/upstream.ts";

const TURNS = 3;
const CLUSTERS = 1000;
const SETTLE = 3000;

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    only: { type: "string", default: "" },
    seconds: { type: "string", default: "3" },
  },
});
const seconds = Number(values.seconds);
const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
const binaries = process.env["CAUSEWAY_KUBERNETES_BINARIES"] ?? join(cache, "causeway/kubernetes/v1.34.4");
/** Processes that want a processor, mean of a minute. */
const loadNow = (): number => rounded(loadavg()[0] ?? 0);
/** What else the machine did counts for both sides, and is reported. */
const machine = { processors: availableParallelism(), node: process.version, loadBefore: loadNow() };
const base = mkdtempSync(join(tmpdir(), "bench-apiserver-"));
const rows: Row[] = [];

interface Pair {
  readonly ours: Subject;
  readonly upstream: Subject | undefined;
}

function add(row: Row): void {
  rows.push(row);
  console.error(printed([row]).split("\n")[1]);
}

async function startPair(): Promise<Pair> {
  const ours = await startOurs(base);
  return { ours, upstream: hasUpstream(binaries) ? await startUpstream(base, binaries) : undefined };
}

async function closePair({ ours, upstream }: Pair): Promise<void> {
  await Promise.all([ours.close(), upstream?.close()]);
}

const subjects = ({ ours, upstream }: Pair): Subject[] => (upstream ? [ours, upstream] : [ours]);

/** Turns on each in turn; calls and times add up, latencies are the middle ones. */
async function turns(pair: Pair, mode: string, flags: (turn: number) => Flags, count = TURNS) {
  const measured = new Map<Subject, Measured[]>(subjects(pair).map((s) => [s, []]));
  for (let turn = 0; turn < count; turn += 1) {
    for (const [subject, list] of measured) list.push(await load(program, subject, mode, flags(turn)));
  }
  const figures = (subject: Subject | undefined): Figures | undefined =>
    subject && together(measured.get(subject) ?? []);
  const upstream = figures(pair.upstream);
  return { ours: figures(pair.ours) as Figures, ...(upstream ? { upstream } : {}) };
}

function together(measured: readonly Measured[]): Figures {
  const sum = (field: "calls" | "seconds" | "cpuSeconds"): number => measured.reduce((t, m) => t + m[field], 0);
  const middle = (field: "p50" | "p99" | "memoryMiB"): number =>
    measured.map((m) => m[field]).sort((a, b) => a - b)[measured.length >> 1] ?? 0;
  const [calls, time] = [sum("calls"), sum("seconds")];
  return {
    calls,
    seconds: time,
    cpuSeconds: sum("cpuSeconds"),
    memoryMiB: middle("memoryMiB"),
    perSecond: calls / time,
    p50: middle("p50"),
    p99: middle("p99"),
  };
}

function at(subject: Subject | undefined, time: number, calls = 1): Figures {
  return { calls, seconds: time, ...(subject ? costOf(subject) : { cpuSeconds: 0, memoryMiB: 0 }) };
}

/** Time and memory of a start; answers what a fresh upstream holds, which a cluster of its own costs there. */
async function starts(): Promise<void> {
  const seen: { ours: Figures; upstream: Figures | undefined; ready: Pair }[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const pair = await startPair();
    await new Promise((done) => setTimeout(done, SETTLE));
    const { ours, upstream } = pair;
    seen.push({ ours: at(ours, ours.started), upstream: upstream && at(upstream, upstream.started), ready: pair });
    await closePair(pair);
  }
  const middle = seen.sort((a, b) => a.ours.seconds - b.ours.seconds)[seen.length >> 1];
  if (!middle) return;
  const sides = { ours: middle.ours, ...(middle.upstream ? { upstream: middle.upstream } : {}) };
  add({ name: "start to first served list", by: "seconds", ...sides });
  const readyAfter = { ours: { ...middle.ours, seconds: middle.ready.ours.ready } };
  const { upstream: other } = middle.ready;
  const theirReady = middle.upstream && other && { upstream: { ...middle.upstream, seconds: other.ready } };
  add({ name: "start to /readyz", by: "seconds", ...readyAfter, ...theirReady });
  add({ name: "memory after the start", by: "memoryMiB", ...sides });
  const made = await makeClusters(base, { count: CLUSTERS, settle: SETTLE });
  const milliseconds = [...made.milliseconds].sort((a, b) => a - b);
  const { cpuSeconds, memoryMiB } = made;
  const many = { calls: CLUSTERS, seconds: milliseconds.reduce((a, b) => a + b, 0) / 1000, cpuSeconds, memoryMiB };
  const p50 = milliseconds[CLUSTERS >> 1] ?? 0;
  const p99 = milliseconds[Math.floor(CLUSTERS * 0.99)] ?? 0;
  const { upstream } = middle;
  const note = `upstream: a pair of processes each, ${TURNS} measured`;
  const theirs = upstream && { ...upstream, p50: upstream.seconds * 1000, p99: upstream.seconds * 1000 };
  add({
    name: "a cluster made, p50",
    by: "p50",
    ours: { ...many, p50, p99 },
    ...(theirs ? { upstream: theirs } : {}),
    note,
  });
  const scaled = upstream && { ...upstream, calls: CLUSTERS, memoryMiB: upstream.memoryMiB * CLUSTERS };
  add({
    name: `memory at ${CLUSTERS} clusters`,
    by: "memoryMiB",
    ours: many,
    ...(scaled ? { upstream: scaled } : {}),
    note: `${note}, times ${CLUSTERS}`,
  });
}

async function verbs(pair: Pair): Promise<void> {
  let first = 0;
  for (const verb of ["create", "get", "update", "apply"]) {
    for (const clients of [1, 16, 64]) {
      const sides = await turns(pair, verb, () => ({ clients, seconds, first: (first += 100_000) }));
      add({ name: `${verb}, ${clients} client${clients === 1 ? "" : "s"}`, by: "perSecond", ...sides });
      if (clients === 1) add({ name: `${verb}, 1 client, p50`, by: "p50", ...sides });
      if (clients === 1) add({ name: `${verb}, 1 client, p99`, by: "p99", ...sides });
    }
  }
}

async function lists(pair: Pair): Promise<void> {
  const namespace = "ten-thousand";
  for (const subject of subjects(pair)) {
    await makeNamespace(subject, namespace);
    await load(program, subject, "fill", { namespace, objects: 10_000, size: 1700, clients: 16 });
  }
  const whole = await turns(pair, "list", () => ({ namespace, objects: 3 }));
  add({ name: "list of 10,000 objects of 2 kB, whole, p50", by: "p50", ...whole });
  const paged = await turns(pair, "list", () => ({ namespace, objects: 3, limit: 500 }));
  add({ name: "list of 10,000 objects of 2 kB, pages of 500, p50", by: "p50", ...paged });
}

async function fanOut(pair: Pair): Promise<void> {
  const namespace = "fan-out";
  for (const subject of subjects(pair)) await makeNamespace(subject, namespace);
  const before = new Map(subjects(pair).map((s) => [s.name, costOf(s).memoryMiB]));
  const flags = (turn: number): Flags => ({ namespace, watches: 1000, objects: 30, first: turn * 1000, seconds: 1 });
  const sides = await turns(pair, "fanout", flags, 2);
  add({ name: "a write to 1,000 watches, p50", by: "p50", ...sides });
  add({ name: "a write to 1,000 watches, p99", by: "p99", ...sides });
  const grown = (name: Subject["name"], figures: Figures): Figures => ({
    ...figures,
    memoryMiB: figures.memoryMiB - (before.get(name) ?? 0),
  });
  const { ours, upstream } = sides;
  const theirs = upstream ? { upstream: grown("upstream", upstream) } : {};
  add({
    name: "memory of 1,000 watches",
    by: "memoryMiB",
    ours: grown("ours", ours),
    ...theirs,
    note: "growth of resident memory",
  });
}

async function fiftyThousand(): Promise<void> {
  const pair = await startPair();
  const namespace = "default";
  const objects = 50_000;
  const filled = new Map<Subject, Figures>();
  for (const subject of subjects(pair)) {
    await makeNamespace(subject, namespace);
    const { seconds: time } = await load(program, subject, "fill", { namespace, objects, size: 1000, clients: 16 });
    await new Promise((done) => setTimeout(done, SETTLE));
    filled.set(subject, at(subject, time, objects));
  }
  const [ours, upstream] = subjects(pair).map((s) => filled.get(s));
  if (ours) add({ name: "memory at 50,000 objects of 1 kB", by: "memoryMiB", ours, ...(upstream ? { upstream } : {}) });
  await closePair(pair);
}

const program = buildLoad(base);
const wants = (part: string): boolean => part.includes(values.only);
try {
  if (wants("starts")) await starts();
  const parts = { verbs, lists, fanout: fanOut };
  for (const [name, part] of Object.entries(parts)) {
    if (!wants(name)) continue;
    const pair = await startPair();
    await Promise.all(subjects(pair).map((s) => makeNamespace(s, "default")));
    await part(pair);
    await closePair(pair);
  }
  if (wants("memory")) await fiftyThousand();
} finally {
  rmSync(base, { recursive: true, force: true });
}
console.log(printed(rows));
if (!hasUpstream(binaries))
  console.log(`no kube-apiserver and etcd in ${binaries}: npm run test:kubernetes builds them`);
const json = rows.map(({ ours, upstream, ...row }) => ({
  ...row,
  ours: roundedFigures(ours),
  ...(upstream ? { upstream: roundedFigures(upstream) } : {}),
}));
const report = { machine: { ...machine, loadAfter: loadNow() }, rows: json };
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
