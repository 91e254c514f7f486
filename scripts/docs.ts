/**
 * `npm run docs`: writes the generated reference pages. `npm run check` refuses pages that differ from what the code
 * would write.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { generatedPages } from "./docs/pages.ts";

const root = resolve(import.meta.dirname, "..");
for (const { path, text } of generatedPages(root)) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  console.log(path);
}
