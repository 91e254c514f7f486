import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TempestResult } from "./run.ts";
import { tempestServices } from "./services.ts";

/** What became of a service's tests on one cloud. Names without the service's prefix. */
export interface CloudRecord {
  /** YYYY-MM-DD of the last run. */
  readonly date: string;
  /** Of all its runs. */
  readonly seconds: number;
  readonly passed: readonly string[];
  readonly failed: Readonly<Record<string, string>>;
  /** Why, and which. */
  readonly skipped: Readonly<Record<string, readonly string[]>>;
}

/** docs/reference/tempest/SERVICE.json */
export interface ServiceRecord {
  readonly real?: CloudRecord;
  readonly simulated?: CloudRecord;
}

const folder = resolve(import.meta.dirname, "../../docs/reference/tempest");
const page = resolve(folder, "../tempest.md");
const fileOf = (service: string) => join(folder, `${service}.json`);

export function cloudRecord(
  results: readonly TempestResult[],
  prefix: string,
  run: { date: string; seconds: number },
): CloudRecord {
  const short = (id: string) => id.replace(prefix, "");
  const passed = results.filter((r) => r.status === "success").map((r) => short(r.id));
  const failed = results.filter((r) => r.status !== "success" && r.status !== "skip");
  const skipped = new Map<string, string[]>();
  for (const { id, status, reason } of results) {
    if (status === "skip") skipped.set(reason, [...(skipped.get(reason) ?? []), short(id)].sort());
  }
  return {
    ...run,
    passed: passed.sort(),
    failed: Object.fromEntries(failed.map((r) => [short(r.id), lasting(r.reason)] as const).sort(byName)),
    skipped: Object.fromEntries([...skipped].sort(byName)),
  };
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

/** A reason without what differs from run to run: ids, ports, request ids, names by chance. */
function lasting(reason: string): string {
  return reason
    .replace(/[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/g, "ID")
    .replace(/127\.0\.0\.1:\d+/g, "CLOUD")
    .replace(/-\d{6,}/g, "-N")
    .slice(0, 300);
}

/** The class of a test, or the class that a failure of set-up or tear-down names; without the service's prefix. */
function classOf(name: string): string {
  const whole = /^(?:setUpClass|tearDownClass) \((.*)\)$/.exec(name)?.[1];
  return whole ?? name.slice(0, name.lastIndexOf("."));
}

/** A record in which a run of some classes replaces what was known of them. Classes are run whole. */
export function mergedRecord(old: CloudRecord | undefined, part: CloudRecord): CloudRecord {
  if (!old) return part;
  const names = [...part.passed, ...Object.keys(part.failed), ...Object.values(part.skipped).flat()];
  const anew = new Set(names.map(classOf));
  const stays = (name: string) => !anew.has(classOf(name));
  const failed = Object.entries(old.failed).filter(([name]) => stays(name));
  const reasons = new Set([...Object.keys(old.skipped), ...Object.keys(part.skipped)]);
  const skipped = [...reasons].map((reason): readonly [string, readonly string[]] => {
    const kept = (old.skipped[reason] ?? []).filter(stays);
    return [reason, [...kept, ...(part.skipped[reason] ?? [])].sort()];
  });
  return {
    date: part.date,
    seconds: old.seconds + part.seconds,
    passed: [...old.passed.filter(stays), ...part.passed].sort(),
    failed: Object.fromEntries([...failed, ...Object.entries(part.failed)].sort(byName)),
    skipped: Object.fromEntries(skipped.filter(([, which]) => which.length > 0).sort(byName)),
  };
}

/** Keeps what a run found: of all the service's tests, or (`part`) of some of its classes. */
export function keepRecord(service: string, cloud: keyof ServiceRecord, found: CloudRecord, part: boolean): void {
  mkdirSync(folder, { recursive: true });
  const old = readRecord(service);
  const record = part ? mergedRecord(old[cloud], found) : found;
  const kept = { ...old, [cloud]: record };
  const ordered: ServiceRecord = {
    ...(kept.real ? { real: kept.real } : {}),
    ...(kept.simulated ? { simulated: kept.simulated } : {}),
  };
  writeFileSync(fileOf(service), `${JSON.stringify(ordered, undefined, 1)}\n`);
  writePage();
}

function readRecord(service: string): ServiceRecord {
  return existsSync(fileOf(service)) ? (JSON.parse(readFileSync(fileOf(service), "utf8")) as ServiceRecord) : {};
}

export interface Rate {
  /** Tests that pass on the real cloud. */
  readonly real: number;
  /** Those of them that pass on the simulated one. */
  readonly both: number;
  readonly differ: readonly string[];
}

/** How many of the tests that the real cloud passes the simulated one passes, too. Undefined: one of them has not been run. */
export function rateOf({ real, simulated }: ServiceRecord): Rate | undefined {
  if (!real || !simulated) return undefined;
  const has = new Set(simulated.passed);
  const differ = real.passed.filter((name) => !has.has(name));
  return { real: real.passed.length, both: real.passed.length - differ.length, differ };
}

/** Why a test that the real cloud passes is not passed: its own failure, its class's, or that it was skipped. */
function whyNot(name: string, { failed }: CloudRecord): string {
  const own = failed[name];
  if (own !== undefined) return own;
  const ofClass = Object.entries(failed).find(([key]) => {
    const set = /^(?:setUpClass|tearDownClass) \((.*)\)$/.exec(key)?.[1];
    return set !== undefined && name.startsWith(`${set.replace(/^.*?\.api\./, "")}.`);
  });
  return ofClass ? `its class: ${ofClass[1]}` : "skipped, or not run";
}

/** By service: why a test is passed by the real cloud only, in words; "" says what of the service is on record. */
type Reasons = Readonly<Record<string, Readonly<Record<string, string>>>>;

const readReasons = (): Reasons => JSON.parse(readFileSync(join(folder, "reasons.json"), "utf8")) as Reasons;

/** Writes docs/reference/tempest.md from the records and from reasons.json, which people write. */
export function writePage(): void {
  const reasons = readReasons();
  const known = existsSync(folder) ? readdirSync(folder) : [];
  const services = tempestServices.filter(({ name }) => known.includes(`${name}.json`));
  const rows = services.map(({ name }) => rowOf(name, readRecord(name)));
  const lists = services.map(({ name }) => differences(name, readRecord(name), reasons[name] ?? {}));
  writeFileSync(page, `${head}\n${rows.join("\n")}\n\n${lists.join("")}`.trimEnd() + "\n");
}

const head = `# Tempest on the real and on the simulated cloud

Debian's tempest and octavia-tempest-plugin, run by \`npm run test:tempest -- --cloud simulated|devcloud --service NAME\`, which keeps what
became of each test in tempest/NAME.json and writes this page. The rate is of the tests that the real cloud passes.

| service | real: passed, failed, skipped | simulated: passed, failed, skipped | of the real cloud's passed | rate |
| ------- | ----------------------------- | ---------------------------------- | -------------------------- | ---- |`;

function rowOf(name: string, record: ServiceRecord): string {
  const rate = rateOf(record);
  const of = rate ? [`${rate.both} of ${rate.real}`, `${percent(rate)} %`] : ["-", "-"];
  return `| ${[name, counts(record.real), counts(record.simulated), ...of].join(" | ")} |`;
}

const percent = ({ both, real }: Rate): string => (real === 0 ? "0" : ((100 * both) / real).toFixed(1));

function counts(record: CloudRecord | undefined): string {
  if (!record) return "not run";
  const skipped = Object.values(record.skipped).flat().length;
  return [record.passed.length, Object.keys(record.failed).length, skipped].join(", ");
}

function differences(name: string, record: ServiceRecord, reasons: Reasons[string]): string {
  const { simulated } = record;
  const differ = rateOf(record)?.differ ?? [];
  const about = reasons[""];
  if (!simulated || (differ.length === 0 && about === undefined)) return "";
  const lines = differ.map((test) => `- ${test}: ${reasons[test] ?? plain(whyNot(test, simulated))}`);
  const list = lines.length === 0 ? "" : `Passed by the real cloud only:\n\n${lines.join("\n")}\n\n`;
  return `## ${name}\n\n${about === undefined ? "" : `${about}\n\n`}${list}`;
}

const plain = (text: string): string =>
  text
    .replaceAll(/[<>|*_`\\]/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
