/**
 * The time of day comes from a `Clock`: packages read none of their own, so that tests can move it. Tests, scenarios
 * and examples may.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const READS = /\bDate\.now\(|\bnew Date\(\)/;
const MAY = /\.test\.ts$|(?:^|\/)(?:scenarios|testing|examples|node_modules)\//;
/** Files that read it, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "foundation/src/clock.ts": "it is the clock",
  "apiserver/src/isolation/watchdog-thread.js": "a thread of its own that loads no package",
};

/** Every line of a package that reads the time of day by itself. */
export function checkTimeOfDay(root: string, exceptions = EXCEPTIONS): string[] {
  const packages = join(root, "packages");
  const files = readdirSync(packages).flatMap((name) => sourcesOf(packages, name));
  const unused = Object.keys(exceptions).filter(
    (file) => !files.includes(file) || !READS.test(readFileSync(join(packages, file), "utf8")),
  );
  return [
    ...files
      .filter((file) => !(file in exceptions))
      .flatMap((file) =>
        readFileSync(join(packages, file), "utf8")
          .split("\n")
          .flatMap((line, i) =>
            READS.test(line) ? [`packages/${file}:${i + 1}: reads the time of day; take it from a Clock`] : [],
          ),
      ),
    ...unused.map((file) => `scripts/time-of-day.ts: ${file} reads no time of day; remove the exception`),
  ];
}

function sourcesOf(packages: string, name: string): string[] {
  return readdirSync(join(packages, name, "src"), { recursive: true, encoding: "utf8" })
    .map((file) => `${name}/src/${file}`)
    .filter((file) => /\.[jt]s$/.test(file) && !MAY.test(file))
    .toSorted();
}
