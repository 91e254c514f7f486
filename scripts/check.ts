/** `npm run check`: everything that can be said about the code without running it, each step with its time. */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { checkDocs } from "./docs/pages.ts";
import { checkCommentWidth } from "./comment-width.ts";
import { checkControllerShape } from "./controller-shape.ts";
import { checkErrorCatalogue } from "./error-catalogue.ts";
import { checkFolderOrder } from "./folder-order.ts";
import { checkLayers } from "./layers.ts";
import { checkLanguage } from "./language.ts";
import { checkModuleState } from "./module-state.ts";
import { checkPublicDocs } from "./public-docs.ts";
import { checkResourceKit } from "./resource-kit.ts";
import { checkTextConditions } from "./text-conditions.ts";
import { checkTypeNames } from "./type-names.ts";

const root = resolve(import.meta.dirname, "..");

interface Outcome {
  readonly ok: boolean;
  readonly output: string;
}

interface Step {
  readonly name: string;
  run(): Promise<Outcome>;
}

function command(name: string, file: string, ...args: string[]): Step {
  const run = () =>
    new Promise<Outcome>((done) => {
      const child = spawn(resolve(root, "node_modules/.bin", file), args, {
        cwd: root,
        stdio: ["ignore", "pipe", "pipe"],
      });
      let output = "";
      child.stdout.on("data", (chunk) => (output += chunk));
      child.stderr.on("data", (chunk) => (output += chunk));
      child.on("error", (error) => done({ ok: false, output: error.message }));
      child.on("close", (code) => done({ ok: code === 0, output }));
    });
  return { name, run };
}

function own(name: string, find: (root: string) => string[]): Step {
  const run = async () => {
    const problems = find(root);
    return { ok: problems.length === 0, output: problems.join("\n") };
  };
  return { name, run };
}

const steps: readonly Step[] = [
  command("format", "oxfmt", "--check"),
  command("types", "tsc", "-b"),
  command("lint", "oxlint", "--type-aware", "--deny-warnings", "."),
  own("layers and exports", checkLayers),
  own("order of folders", checkFolderOrder),
  own("shape of controllers", checkControllerShape),
  own("state of modules", (root) => checkModuleState(root)),
  own("names of types", (root) => checkTypeNames(root)),
  own("conditions on texts", (root) => checkTextConditions(root)),
  own("kit of simulated resources", (root) => checkResourceKit(root)),
  own("error catalogue", checkErrorCatalogue),
  own("language", checkLanguage),
  own("width of comments", checkCommentWidth),
  own("doc comments of exported names", checkPublicDocs),
  own("docs", checkDocs),
  command("dead code", "knip", "--no-progress"),
];

let failed = 0;
for (const step of steps) {
  const start = performance.now();
  const outcome = await step.run();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${outcome.ok ? "ok    " : "FAILED"} ${step.name} (${seconds} s)`);
  if (!outcome.ok) {
    failed += 1;
    console.log(outcome.output.trimEnd());
  }
}
process.exitCode = failed === 0 ? 0 : 1;
