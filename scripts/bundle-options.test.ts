import { rolldown, type OutputChunk } from "rolldown";
import { beforeAll, expect, test } from "vitest";
import { moduleOptions } from "./bundle-options.ts";

let chunks: readonly OutputChunk[] = [];
beforeAll(async () => {
  const built = await rolldown(moduleOptions({ main: "packages/causeway/src/main.ts" }));
  const { output } = await built.generate({ format: "esm" });
  await built.close();
  chunks = output.filter((part) => part.type === "chunk");
}, 300_000);

/** The modules of the chunk that has this one, and of those that it imports before it runs. */
function loadedWith(module: string): string[] {
  const loaded = new Set(chunks.filter((chunk) => chunk.moduleIds.some((id) => id.endsWith(module))));
  for (const chunk of loaded) for (const other of chunks) if (chunk.imports.includes(other.fileName)) loaded.add(other);
  return [...loaded].flatMap((chunk) => chunk.moduleIds);
}

/** What takes megabytes of each process that loads it. */
const LARGE = ["undici/lib/dispatcher/agent.js", "@peculiar/x509", "undici/lib/web/fetch/index.js", "/yaml/"];
const PACKAGES = ["cloud-controller-manager", "reverse-tunnel", "apiserver", "simulator", "cluster-api"].map(
  (name) => `packages/${name}/`,
);

test.each([
  ["cloud-controller-manager", ["undici/lib/dispatcher/agent.js", "/yaml/", "packages/cloud-controller-manager/"]],
  ["tunnel-agent", ["packages/reverse-tunnel/"]],
  ["tunnel-server", ["packages/reverse-tunnel/"]],
])("`run %s` loads of large libraries and of our packages what it uses", (command, expected) => {
  const modules = loadedWith(`causeway/src/commands/run/${command}/action.ts`);
  const parts = [...LARGE, ...PACKAGES];
  expect(parts.filter((part) => modules.some((id) => id.includes(part)))).toEqual(expected);
});

test("no program imports node:http, which loads Node's own copy of undici", () => {
  expect(chunks.filter((chunk) => chunk.imports.includes("node:http"))).toEqual([]);
  expect(chunks.flatMap((chunk) => chunk.moduleIds)).toContain("\0node:http");
});
