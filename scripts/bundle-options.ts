import { resolve } from "node:path";
import type { InputOptions } from "rolldown";
import { CHECKOUT } from "@causeway/causeway/bundled";

/** In place of undici: what the packages use of it. */
const UNDICI = resolve(import.meta.dirname, "undici.js");

/** What a namespace of node:http has and no program of ours uses: to read them loads Node's own copy of undici. */
const LATE = new Set(["CloseEvent", "MessageEvent", "WebSocket"]);

/**
 * node:http, read property by property: `import` reads all of its exports, and these with them, which take 6 MiB and a
 * tenth of a start.
 */
const plainHttp = {
  name: "plain-http",
  resolveId: (source: string) => (source === "node:http" ? "\0node:http" : undefined),
  load(id: string) {
    if (id !== "\0node:http") return undefined;
    const names = Object.keys(process.getBuiltinModule("node:http")).filter((name) => !LATE.has(name));
    return `const http = process.getBuiltinModule("node:http");
export default http;
export const { ${names.join(", ")} } = http;
`;
  },
};

/**
 * Sources that do nothing when they are imported: a program loads what it uses of a package, not what the package's
 * index names.
 */
const OURS = /\/packages\/[^/]+\/src\//;

/** How rolldown reads the sources of a program that starts at `input` and does not become a snapshot. */
export function moduleOptions(input: InputOptions["input"]): InputOptions {
  return {
    ...bundleOptions(input),
    external: /^node:(?!http$)/,
    plugins: [plainHttp],
    treeshake: { moduleSideEffects: [{ test: OURS, sideEffects: false }] },
  };
}

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
