import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { openRaw, type Accounts } from "../run.ts";
import type { FilteredList, Verdicts } from "./list.ts";
import { filteredLists } from "./lists.ts";
import { verdictsOf } from "./verdicts.ts";

const nameOf = ({ path, name }: FilteredList): string =>
  name ??
  path
    .replace(/\?.*/, "")
    .replaceAll(/[{}]/g, "")
    .replace(/^\/(?:v[\d.]+\/)?(?:lbaas\/)?/, "");
const fileOf = (list: FilteredList): string =>
  resolve(import.meta.dirname, `truth/${list.service}/${nameOf(list).replaceAll("/", "-")}.json`);

/** What the real service returned; undefined: it was not recorded. */
function truthOf(list: FilteredList): Verdicts | undefined {
  const file = fileOf(list);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Verdicts) : undefined;
}

function record(list: FilteredList, verdicts: Verdicts): void {
  mkdirSync(dirname(fileOf(list)), { recursive: true });
  const ordered = Object.fromEntries(Object.entries(verdicts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(fileOf(list), `${JSON.stringify(ordered, undefined, 1)}\n`);
}

export interface FilterSuiteOptions {
  readonly accounts: () => Accounts;
  /** What is seen becomes the truth: only for the real services. */
  readonly recording?: boolean;
  /** One list in so many is compared, others each day; default 1: all. */
  readonly stride?: number;
}

const DAY = 86_400_000;

/** Declares a test for each list: every filter takes and leaves what the real service's takes and leaves. */
export function declareFilterSuite({ accounts, recording = false, stride = 1 }: FilterSuiteOptions): void {
  let opened: ReturnType<typeof openRaw> | undefined;
  describe("every filter of a list", () => {
    const today = Math.floor(Date.now() / DAY) % stride;
    for (const [index, list] of filteredLists.entries()) {
      test(`${list.service}: ${nameOf(list)}`, { timeout: 600_000 }, async ({ skip }) => {
        if (index % stride !== today) return skip("of another day: CAUSEWAY_FILTER_STRIDE=1 compares all lists");
        opened ??= openRaw(accounts());
        const verdicts = await verdictsOf(list, await opened);
        if (!verdicts) return skip(`the cloud has no ${list.service} service`);
        if (recording) record(list, verdicts);
        expect(Object.keys(verdicts).length).toBeGreaterThan(0);
        const truth = truthOf(list);
        const shared = Object.keys(verdicts).filter((name) => truth?.[name] !== undefined);
        expect(shared.length, "it has been recorded").toBeGreaterThan(0);
        const of = (all: Verdicts) => Object.fromEntries(shared.map((name) => [name, all[name]]));
        expect(of(verdicts)).toEqual(of(truth ?? {}));
      });
    }
  });
}
