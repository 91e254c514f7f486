/**
 * `npm ci` runs it: makes one file of the command and what it imports, from which programs start twice as fast as from some six hundred sources.
 * Whoever changes a source starts from sources, until the next install or `npm run prepare`. Without it all runs, so that a failure is only told.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { rolldown } from "rolldown";
import { BUNDLE, CHECKOUT, MADE_OF, stampOf } from "@causeway/causeway/bundled";

/** What npm installed last: stands for every file below node_modules. */
const INSTALLED = "node_modules/.package-lock.json";

async function bundle(): Promise<void> {
  mkdirSync(dirname(BUNDLE), { recursive: true });
  const dir = mkdtempSync(`${BUNDLE}-`);
  const build = await rolldown({
    cwd: CHECKOUT,
    input: {
      main: "packages/causeway/src/main.ts",
      apiserver: "packages/apiserver/src/index.ts",
    },
    platform: "node",
    external: /^node:/,
    logLevel: "silent",
  });
  await build.write({ dir, format: "esm", keepNames: true, chunkFileNames: "[name]-[hash].js" });
  const sources = (await build.watchFiles)
    .map((file) => relative(CHECKOUT, file))
    .filter((file) => !file.startsWith("node_modules/") && !file.startsWith(".."))
    .sort();
  await build.close();
  writeFileSync(resolve(dir, MADE_OF), JSON.stringify([INSTALLED, ...sources].map(stampOf)));
  writeFileSync(resolve(dir, "package.json"), JSON.stringify({ type: "module" }));
  rmSync(BUNDLE, { recursive: true, force: true });
  renameSync(dir, BUNDLE);
}

try {
  await bundle();
} catch (error) {
  console.error(`no bundle was made, so that starts take longer: ${String(error)}`);
}
