import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { wrapMarkdown } from "../../scripts/docs/wrap.ts";

/** How one test of a suite that others wrote ended. */
export interface TestResult {
  readonly id: string;
  readonly status: "success" | "fail" | "skip" | "xfail" | "uxsuccess" | "unknown" | "inprogress";
  /** Why it failed or was skipped; "" when it passed. */
  readonly reason: string;
}

/** "N passed, N failed, N skipped", as every suite of ours ends. */
export function closingLine(results: readonly TestResult[]): string {
  const count = (status: TestResult["status"]): number => results.filter((r) => r.status === status).length;
  const [passed, skipped] = [count("success"), count("skip")];
  return `${passed} passed, ${results.length - passed - skipped} failed, ${skipped} skipped`;
}

/** When a run that began then (of performance.now()) was, for its record. */
export function runSince(started: number): Pick<CloudRecord, "date" | "seconds"> {
  return { date: new Date().toISOString().slice(0, 10), seconds: Math.round((performance.now() - started) / 1000) };
}

/** A suite that others wrote, and where what became of its tests on both clouds is kept. */
export interface Suite {
  /** Has SERVICE.json, and reasons.json, which people write. */
  readonly folder: string;
  readonly page: string;
  /** How the page begins, with its title, without the table. */
  readonly head: string;
  /**
   * Set where the real cloud is not run: the page then gives all failures, and the rate of all tests that were not
   * skipped.
   */
  readonly simulatedOnly?: true;
  /** In the page's order. */
  readonly services: readonly string[];
  /** What a run of a part of the tests replaces whole: the class of a test, or its name. */
  readonly groupOf: (name: string) => string;
}

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

/** SERVICE.json */
export interface ServiceRecord {
  readonly real?: CloudRecord;
  readonly simulated?: CloudRecord;
}

const fileOf = (suite: Suite, service: string) => join(suite.folder, `${service}.json`);

export function cloudRecord(
  results: readonly TestResult[],
  prefix: string,
  run: Pick<CloudRecord, "date" | "seconds">,
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

/** A record in which a run of some groups of tests replaces what was known of them. */
export function mergedRecord(old: CloudRecord | undefined, part: CloudRecord, groupOf: Suite["groupOf"]): CloudRecord {
  if (!old) return part;
  const names = [...part.passed, ...Object.keys(part.failed), ...Object.values(part.skipped).flat()];
  const renewed = new Set(names.map(groupOf));
  const stays = (name: string) => !renewed.has(groupOf(name));
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

export interface Found {
  readonly service: string;
  readonly cloud: keyof ServiceRecord;
  readonly record: CloudRecord;
  /** Only some groups of the service's tests were run. */
  readonly part: boolean;
}

/** Keeps what a run found, and rewrites the page. */
export function keepRecord(suite: Suite, { service, cloud, record: found, part }: Found): void {
  mkdirSync(suite.folder, { recursive: true });
  const old = readRecord(suite, service);
  const record = part ? mergedRecord(old[cloud], found, suite.groupOf) : found;
  const kept = { ...old, [cloud]: record };
  const ordered: ServiceRecord = {
    ...(kept.real ? { real: kept.real } : {}),
    ...(kept.simulated ? { simulated: kept.simulated } : {}),
  };
  writeFileSync(fileOf(suite, service), `${JSON.stringify(ordered, undefined, 1)}\n`);
  writePage(suite);
}

function readRecord(suite: Suite, service: string): ServiceRecord {
  const file = fileOf(suite, service);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as ServiceRecord) : {};
}

export interface Rate {
  /** Tests that pass on the real cloud. */
  readonly real: number;
  /** Those of them that pass on the simulated one. */
  readonly both: number;
  readonly differ: readonly string[];
}

/**
 * How many of the tests that the real cloud passes the simulated one passes, too. Undefined: one of them has not been
 * run.
 */
export function rateOf({ real, simulated }: ServiceRecord): Rate | undefined {
  if (!real || !simulated) return undefined;
  const has = new Set(simulated.passed);
  const differ = real.passed.filter((name) => !has.has(name));
  return { real: real.passed.length, both: real.passed.length - differ.length, differ };
}

/**
 * Why a test that the real cloud passes is not passed: its own failure, that of its class's set-up, or that it was
 * skipped.
 */
function whyNot(name: string, { failed }: CloudRecord, groupOf: Suite["groupOf"]): string {
  const own = failed[name];
  if (own !== undefined) return own;
  const ofClass = Object.entries(failed).find(([key]) => key.endsWith(")") && groupOf(key) === groupOf(name));
  return ofClass ? `its class: ${ofClass[1]}` : "skipped, or not run";
}

/** By service: why a test is passed by the real cloud only, in words; "" says what of the service is on record. */
type Reasons = Readonly<Record<string, Readonly<Record<string, string>>>>;

function readReasons({ folder }: Suite): Reasons {
  const file = join(folder, "reasons.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Reasons) : {};
}

/** Writes the page from the records and from reasons.json. */
export function writePage(suite: Suite): void {
  const reasons = readReasons(suite);
  const known = existsSync(suite.folder) ? readdirSync(suite.folder) : [];
  const services = suite.services.filter((name) => known.includes(`${name}.json`));
  const table = suite.simulatedOnly ? simulatedTable(suite, services) : comparedTable(suite, services);
  const lists = services.map((name) =>
    suite.simulatedOnly ? failures(suite, name, reasons[name] ?? {}) : differences(suite, name, reasons[name] ?? {}),
  );
  writeFileSync(suite.page, wrapMarkdown(`${suite.head}\n\n${table}\n\n${lists.join("")}`.trimEnd() + "\n"));
}

const comparedTable = (suite: Suite, services: readonly string[]): string =>
  [columns, ...services.map((name) => rowOf(name, readRecord(suite, name)))].join("\n");

/** Counts of the simulated cloud alone, with their sum. */
function simulatedTable(suite: Suite, services: readonly string[]): string {
  const counted = services.map((name) => [name, countsOf(readRecord(suite, name).simulated)] as const);
  const sum = counted.reduce((all, [, one]) => all.map((count, place) => count + (one[place] ?? 0)), [0, 0, 0]);
  const row = (name: string, [passed = 0, failed = 0, skipped = 0]: readonly number[]) =>
    `| ${name} | ${passed} | ${failed} | ${skipped} | ${percent({ both: passed, real: passed + failed, differ: [] })} % |`;
  const head = "| service | passed | failed | skipped | rate |\n| ------- | ------ | ------ | ------- | ---- |";
  return [head, ...counted.map(([name, one]) => row(name, one)), row("all", sum)].join("\n");
}

const countsOf = (record: CloudRecord | undefined): readonly number[] =>
  record
    ? [record.passed.length, Object.keys(record.failed).length, Object.values(record.skipped).flat().length]
    : [0, 0, 0];

/** What of a service failed or was skipped, and why. */
function failures(suite: Suite, name: string, reasons: Reasons[string] = {}): string {
  const { simulated } = readRecord(suite, name);
  const [failed, skipped] = [Object.entries(simulated?.failed ?? {}), Object.entries(simulated?.skipped ?? {})];
  const about = reasons[""];
  if (failed.length + skipped.length === 0 && about === undefined) return "";
  const lines = failed.map(([test, why]) => `- ${test}: ${reasons[test] ?? plain(why)}`);
  const left = skipped.map(([why, which]) => `- ${plain(why)}: ${which.join(", ")}`);
  const part = (title: string, list: readonly string[]) =>
    list.length === 0 ? "" : `${title}:\n\n${list.join("\n")}\n\n`;
  return `## ${name}\n\n${about === undefined ? "" : `${about}\n\n`}${part("Failed", lines)}${part("Skipped", left)}`;
}

const columns = `| service | real: passed, failed, skipped | simulated: passed, failed, skipped | of the real cloud's passed | rate |
| ------- | ----------------------------- | ---------------------------------- | -------------------------- | ---- |`;

function rowOf(name: string, record: ServiceRecord): string {
  const rate = rateOf(record);
  const of = rate ? [`${rate.both} of ${rate.real}`, `${percent(rate)} %`] : ["-", "-"];
  return `| ${[name, counts(record.real), counts(record.simulated), ...of].join(" | ")} |`;
}

const percent = ({ both, real }: Rate): string => (real === 0 ? "0" : ((100 * both) / real).toFixed(1));

function counts(record: CloudRecord | undefined): string {
  return record ? countsOf(record).join(", ") : "not run";
}

function differences(suite: Suite, name: string, reasons: Reasons[string]): string {
  const record = readRecord(suite, name);
  const { simulated } = record;
  const differ = rateOf(record)?.differ ?? [];
  const about = reasons[""];
  if (!simulated || (differ.length === 0 && about === undefined)) return "";
  const lines = differ.map((test) => `- ${test}: ${reasons[test] ?? plain(whyNot(test, simulated, suite.groupOf))}`);
  const list = lines.length === 0 ? "" : `Passed by the real cloud only:\n\n${lines.join("\n")}\n\n`;
  return `## ${name}\n\n${about === undefined ? "" : `${about}\n\n`}${list}`;
}

const plain = (text: string): string =>
  text
    .replaceAll(/[<>|*_`\\]/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
