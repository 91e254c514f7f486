/** What became of the conformance specs on each control plane, kept in docs/reference/conformance. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Outcome } from "../report.ts";
import type { PlaneName } from "./interface.ts";

export const reference = resolve(import.meta.dirname, "../../../docs/reference");
const folder = join(reference, "conformance");
/** Of what the suite says of a failure. */
const LONGEST = 400;

export interface SpecRecord {
  readonly state: string;
  readonly seconds: number;
  readonly date: string;
  readonly failure?: string;
}

export interface PlaneRecord {
  /** Kubernetes' release. */
  readonly version: string;
  readonly specs: Readonly<Record<string, SpecRecord>>;
}

const fileOf = (plane: PlaneName): string => join(folder, `${plane}.json`);

export function readRecord(plane: PlaneName): PlaneRecord {
  const file = fileOf(plane);
  if (!existsSync(file)) return { version: "", specs: {} };
  return JSON.parse(readFileSync(file, "utf8")) as PlaneRecord;
}

/** People write why, by the name of a spec. */
export function readReasons(): Readonly<Record<string, string>> {
  const file = join(folder, "reasons.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, string>) : {};
}

/** The names of all conformance specs of the release, also of those that were not run. */
export function readNames(): readonly string[] {
  const file = join(folder, "specs.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as string[]) : [];
}

export function keepNames(names: readonly string[]): void {
  write("specs.json", names);
}

/**
 * Adds outcomes to the record of a control plane, in place of older ones of the same specs. Those of another release
 * are dropped: its specs are others.
 */
export function keep(plane: PlaneName, version: string, outcomes: readonly Outcome[]): void {
  const date = new Date().toISOString().slice(0, 10);
  const before = readRecord(plane);
  const specs = before.version === version ? { ...before.specs } : {};
  for (const { name, state, seconds, failure } of outcomes)
    specs[name] = { state, seconds, date, ...(failure === undefined ? {} : { failure: lasting(failure) }) };
  const sorted = Object.fromEntries(Object.entries(specs).sort(([a], [b]) => (a < b ? -1 : 1)));
  write(`${plane}.json`, { version, specs: sorted });
}

function write(name: string, content: unknown): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `${JSON.stringify(content, undefined, 1)}\n`);
}

/** Without what differs from run to run, and not the whole of it. */
function lasting(failure: string): string {
  return failure
    .replaceAll(/\d{4}-\d\d-\d\d[ T][\d:.]+(Z| \+0000 UTC)?/g, "TIME")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID")
    .replaceAll(/0x[0-9a-f]+/g, "POINTER")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, LONGEST);
}
