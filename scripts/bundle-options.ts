import { resolve } from "node:path";
import type { InputOptions } from "rolldown";
import { CHECKOUT } from "@causeway/causeway/bundled";

/** In place of undici: what the packages use of it. */
const UNDICI = resolve(import.meta.dirname, "undici.js");

/** How rolldown reads the sources of a program that starts at `input`. */
export function bundleOptions(input: InputOptions["input"]): InputOptions {
  return {
    cwd: CHECKOUT,
    input,
    platform: "node",
    external: /^node:/,
    resolve: { alias: { undici$: UNDICI } },
    logLevel: "silent",
  } as InputOptions;
}
