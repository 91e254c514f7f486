/** `npm run check`: everything that can be said about the code without running it, each step with its time. */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { checkDocs } from "./docs/pages.ts";
import { checkCommandImports } from "./command-imports.ts";
import { checkCommandLines } from "./command-lines.ts";
import { checkCommentWidth } from "./comment-width.ts";
import { checkContractTitles } from "./contract-titles.ts";
import { checkControllerScenarios } from "./controller-scenarios.ts";
import { checkControllerShape } from "./controller-shape.ts";
import { checkErrorCatalogue } from "./error-catalogue.ts";
import { checkExamples } from "./examples.ts";
import { checkFolderOrder } from "./folder-order.ts";
import { checkFileNames, checkLayers, checkPackageTable } from "./layers.ts";
import { checkLanguage } from "./language.ts";
import { checkModuleState } from "./module-state.ts";
import { checkPurePlans } from "./pure-plans.ts";
import { checkPublicDocs } from "./public-docs.ts";
import { checkResourceKit } from "./resource-kit.ts";
import { checkServiceLayout } from "./service-layout.ts";
import { checkTestTitles } from "./test-titles.ts";
import { checkTextConditions } from "./text-conditions.ts";
import { checkTimeOfDay } from "./time-of-day.ts";
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

/**
 * The programs in Go that check types resolve the same ones again in each of their threads. On two cores, which three
 * lanes share, that costs more than it gains.
 */
const isSmall = availableParallelism() <= 2;

function command(name: string, file: string, ...args: string[]): Step {
  const run = () =>
    new Promise<Outcome>((done) => {
      const child = spawn(resolve(root, "node_modules/.bin", file), args, {
        cwd: root,
        env: file === "oxlint" && isSmall ? { GOMAXPROCS: "1", ...process.env } : process.env,
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

function own(name: string, find: (root: string) => readonly string[] | Promise<readonly string[]>): Step {
  const run = async () => {
    const problems = await find(root);
    return { ok: problems.length === 0, output: problems.join("\n") };
  };
  return { name, run };
}

/**
 * In the order in which they are printed. Steps of different lanes run at the same time; a lane runs its own one after
 * another. Those of this process block its thread, and the commands continue meanwhile.
 */
const lanes = {
  lint: [command("lint", "oxlint", "--type-aware", "--deny-warnings", "."), command("format", "oxfmt", "--check")],
  types: [
    command("types", "tsc", "-b", ...(isSmall ? ["--checkers", "1"] : [])),
    command("dead code", "knip", "--no-progress"),
  ],
  own: [
    own("layers and exports", (root) => [...checkLayers(root), ...checkPackageTable(root)]),
    own("names of files", (root) => checkFileNames(root)),
    own("order of folders", checkFolderOrder),
    own("shape of controllers", checkControllerShape),
    own("scenarios of controllers", (root) => checkControllerScenarios(root)),
    own("imports of commands", (root) => checkCommandImports(root)),
    own("purity of plans", checkPurePlans),
    own("state of modules", (root) => checkModuleState(root)),
    own("time of day", (root) => checkTimeOfDay(root)),
    own("names of types", (root) => checkTypeNames(root)),
    own("conditions on texts", (root) => checkTextConditions(root)),
    own("kit of simulated resources", (root) => checkResourceKit(root)),
    own("layout of simulated services", (root) => checkServiceLayout(root)),
    own("error catalogue", checkErrorCatalogue),
    own("titles of tests", (root) => checkTestTitles(root)),
    own("names of contract cases", (root) => checkContractTitles(root)),
    own("language", checkLanguage),
    own("width of comments", checkCommentWidth),
    own("doc comments of public names", checkPublicDocs),
    own("examples of packages", checkExamples),
    own("docs", checkDocs),
    own("command lines in pages and manifests", checkCommandLines),
  ],
} as const satisfies Readonly<Record<string, readonly Step[]>>;

const begun = performance.now();
const secondsSince = (start: number): string => ((performance.now() - start) / 1000).toFixed(1);

/** The reports of a lane's steps, as promises that a later step does not begin before. */
function runLane(steps: readonly Step[]): readonly Promise<{ readonly ok: boolean; readonly report: string }>[] {
  let before: Promise<unknown> = Promise.resolve();
  return steps.map((step) => {
    const reported = before.then(async () => {
      // What the commands have written is read between two steps of this process.
      await new Promise((done) => setImmediate(done));
      const start = performance.now();
      const { ok, output } = await step.run().catch((error: unknown) => ({ ok: false, output: String(error) }));
      const line = `${ok ? "ok    " : "FAILED"} ${step.name} (${secondsSince(start)} s)`;
      return { ok, report: ok ? line : `${line}\n${output.trimEnd()}` };
    });
    before = reported;
    return reported;
  });
}

let failed = 0;
// All lanes begin before the first report is awaited.
for (const reported of [lanes.lint, lanes.types, lanes.own].flatMap(runLane)) {
  const { ok, report } = await reported;
  if (!ok) failed += 1;
  console.log(report);
}
console.log(`${failed === 0 ? "all steps are ok" : `${failed} steps failed`} (${secondsSince(begun)} s)`);
process.exitCode = failed === 0 ? 0 : 1;
