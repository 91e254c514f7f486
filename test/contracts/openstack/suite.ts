import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import type { RawGroup, ComparableAnswer } from "./case.ts";
import { groups as simulated } from "./groups.ts";
import type { KnownDifference } from "./known.ts";
import { withoutAbsent } from "./shape.ts";
import { openRaw, runGroup, type Accounts } from "./run.ts";

export type Truth = Readonly<Record<string, ComparableAnswer>>;

const fileOf = (group: RawGroup): string =>
  resolve(import.meta.dirname, `truth/${group.service}/${group.name.replaceAll(" ", "-")}.json`);

/** What the real services returned, by the case's sentence. */
export function truthOf(group: RawGroup): Truth {
  return existsSync(fileOf(group)) ? (JSON.parse(readFileSync(fileOf(group), "utf8")) as Truth) : {};
}

function record(group: RawGroup, seen: ReadonlyMap<string, ComparableAnswer>): void {
  mkdirSync(dirname(fileOf(group)), { recursive: true });
  writeFileSync(fileOf(group), `${JSON.stringify(Object.fromEntries(seen), undefined, 1)}\n`);
}

export interface SuiteOptions {
  /** Default: those of every service but Magnum's. */
  readonly groups?: readonly RawGroup[];
  /** Logs in; called once, when the suite begins. */
  readonly accounts: () => Accounts;
  /**
   * Cases whose answer is known to differ here, by "service/group/case": skipped with the reason while they do, failed
   * once they do not.
   */
  readonly known?: Readonly<Record<string, KnownDifference>>;
  /** What is seen becomes the truth: only for the real services. */
  readonly recording?: boolean;
}

/** Declares a test for each case: what the cloud returns is what the real services returned. */
export function declareRawSuite({ accounts, groups = simulated, known = {}, recording = false }: SuiteOptions): void {
  let opened: ReturnType<typeof openRaw> | undefined;
  for (const group of groups) {
    describe(`${group.service}: ${group.name}`, () => {
      let seen: ReadonlyMap<string, ComparableAnswer> | undefined;
      beforeAll(async () => {
        opened ??= openRaw(accounts());
        seen = await runGroup(group, await opened);
        if (recording && seen) record(group, seen);
      }, 1_200_000);
      const truth = recording ? undefined : truthOf(group);
      for (const { says } of group.cases) {
        test(says, ({ skip }) => {
          if (!seen) skip(`the cloud has no ${group.service} service`);
          const difference = known[`${group.service}/${group.name}/${says}`];
          const is = seen?.get(says);
          const should = truth ? withoutAbsent(truth[says], is) : is;
          expect(should, "it has not been recorded").toBeDefined();
          if (difference) {
            expect(isDeepStrictEqual(is, should), "it differs no more: take it out of known.ts").toBe(false);
            skip(`${difference.how}: ${difference.why}`);
          }
          expect(is).toEqual(should);
        });
      }
    });
  }
}
