import { expect } from "vitest";
import type { CaseGroup, ContractCase } from "../interface.ts";
import { kubectlMissing, openDesk } from "./kubectl-run.ts";
import { ACCESS_SCRIPTS } from "./kubectl-scripts-access.ts";
import { MORE_SCRIPTS } from "./kubectl-scripts-pods.ts";
import { SCRIPTS, type Script } from "./kubectl-scripts.ts";

const missing = kubectlMissing();

function scripted({ name, steps }: Script): ContractCase {
  return {
    name: `kubectl ${name}`,
    timeout: 60_000,
    ...(missing === undefined ? {} : { missing }),
    async run(c) {
      // Pods want it, and only one of the servers makes it by itself.
      const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
      await c.api.post(c.core("serviceaccounts"), account);
      const desk = await openDesk(c);
      try {
        for (const [command, says] of steps)
          expect({ command, says: await desk.run(command) }).toEqual({ command, says: says.trim() });
      } finally {
        desk.close();
      }
    },
  };
}

const title = "stock kubectl";

/** Those that call kubectl a few times. */
const short = new Set([
  "kubectl shows its namespace, its events and the health of the server",
  "kubectl apply --server-side changes objects",
]);

export const kubectl: CaseGroup = { title, cases: [...SCRIPTS, ...MORE_SCRIPTS, ...ACCESS_SCRIPTS].map(scripted) };

/** The group in two parts: `npm test` runs the short one, `npm run test:scenarios` the other. */
export const shortKubectl: CaseGroup = { title, cases: kubectl.cases.filter(({ name }) => short.has(name)) };
export const longKubectl: CaseGroup = { title, cases: kubectl.cases.filter(({ name }) => !short.has(name)) };
