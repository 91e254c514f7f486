import { afterAll, beforeAll, describe, test } from "vitest";
import { chapters } from "./cases/all.ts";
import { prepareContraptions } from "./cases/contraption.ts";
import { openRunner, type Runner } from "./context.ts";
import type { ServerName, Target } from "./interface.ts";

/** Holds one server to every case. */
export function holdToContract(name: ServerName, start: () => Promise<Target>): void {
  describe(`${name} keeps the contract`, () => {
    let target: Target | undefined;
    let runner: Runner;

    beforeAll(async () => {
      target = await start();
      runner = await openRunner(target, prepareContraptions);
    }, 120_000);
    afterAll(async () => {
      runner?.close();
      await target?.close();
    });

    for (const { title, cases } of chapters) {
      describe(title, () => {
        for (const contractCase of cases) {
          const { except } = contractCase;
          if (except?.server === name) test.skip(`${contractCase.name} (${except.reason})`);
          else test(contractCase.name, () => runner.run(contractCase));
        }
      });
    }
  });
}
