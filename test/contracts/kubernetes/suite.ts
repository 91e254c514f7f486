import { afterAll, beforeAll, describe, test } from "vitest";
import { caseGroups } from "./cases/all.ts";
import { prepareWidgets } from "./cases/custom-resource.ts";
import { openRunner, type Runner } from "./context.ts";
import type { CaseGroup, ContractCase, ServerName, Target } from "./interface.ts";

/** Holds one server to every case of these groups; all of them by default. */
export function holdToContract(
  name: ServerName,
  start: () => Promise<Target>,
  held: readonly CaseGroup[] = caseGroups,
): void {
  describe(`${name} keeps the contract`, () => {
    let target: Target | undefined;
    let runner: Runner | undefined;
    let failure: unknown;

    beforeAll(async () => {
      try {
        target = await start();
        runner = await openRunner(target, prepareWidgets);
      } catch (error) {
        // Every case throws it, so that a server that does not start counts as failed, not as skipped.
        failure = error;
      }
    }, 120_000);
    afterAll(async () => {
      runner?.close();
      await target?.close();
    });

    const run = (contractCase: ContractCase): Promise<void> => {
      if (runner === undefined) throw failure;
      return runner.run(contractCase);
    };

    for (const { title, cases } of held) {
      describe(title, () => {
        for (const contractCase of cases) {
          const { except, missing, timeout } = contractCase;
          const reason = except?.server === name ? except.reason : missing;
          if (reason !== undefined) test.skip(`${contractCase.name} (${reason})`);
          else test(contractCase.name, () => run(contractCase), timeout);
        }
      });
    }
  });
}
