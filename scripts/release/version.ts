/**
 * `npm run release:version`: takes the changesets of `.changeset/` as the next version of all packages and Helm charts,
 * writes the changelogs, and refreshes package-lock.json. Commit what it changes, and tag it `vX.Y.Z`.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { sectionOf, withSection } from "./merge.ts";

const root = resolve(import.meta.dirname, "../..");
const packages = join(root, "packages");
const charts = join(root, "deploy/charts");

execFileSync(join(root, "node_modules/.bin/changeset"), ["version"], { cwd: root, stdio: "inherit" });

const { version } = JSON.parse(readFileSync(join(packages, "causeway/package.json"), "utf8")) as { version: string };
for (const chart of readdirSync(charts)) {
  const file = join(charts, chart, "Chart.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace(/^(version|appVersion): .*$/gm, `$1: ${version}`));
}

const changelogs = readdirSync(packages)
  .filter((name) => existsSync(join(packages, name, "CHANGELOG.md")))
  .map((name) => ({ name, text: readFileSync(join(packages, name, "CHANGELOG.md"), "utf8") }));
const changelog = join(root, "CHANGELOG.md");
writeFileSync(changelog, withSection(readFileSync(changelog, "utf8"), sectionOf(version, changelogs)));

execFileSync("npm", ["install", "--package-lock-only", "--ignore-scripts"], { cwd: root, stdio: "inherit" });
execFileSync(process.execPath, [join(root, "scripts/docs.ts")], { cwd: root, stdio: "inherit" });
console.log(`version ${version}: review the changes, commit them, and tag the commit v${version}`);
