import { rolldown, type OutputChunk } from "rolldown";
import { expect, test } from "vitest";
import { bundleOptions } from "./bundle-options.ts";

/** The modules of the chunk that has this one, and of those that it imports before it runs. */
function loadedWith(chunks: readonly OutputChunk[], module: string): string[] {
  const loaded = new Set(chunks.filter((chunk) => chunk.moduleIds.some((id) => id.endsWith(module))));
  for (const chunk of loaded) for (const other of chunks) if (chunk.imports.includes(other.fileName)) loaded.add(other);
  return [...loaded].flatMap((chunk) => chunk.moduleIds);
}

test(
  "the cloud controller manager loads neither certificates' library, nor all of undici, nor other commands",
  { timeout: 300_000 },
  async () => {
    const built = await rolldown(bundleOptions({ main: "packages/causeway/src/main.ts" }));
    const { output } = await built.generate({ format: "esm" });
    await built.close();
    const loaded = loadedWith(
      output.filter((part) => part.type === "chunk"),
      "causeway/src/commands/run/cloud-controller-manager/action.ts",
    );
    const parts = [
      "packages/cloud-controller-manager/src/manager.ts",
      "undici/lib/dispatcher/agent.js",
      "@peculiar/x509",
      "undici/lib/web/fetch/index.js",
      "packages/apiserver/",
      "packages/simulator/",
    ];
    expect(parts.filter((part) => loaded.some((id) => id.includes(part)))).toEqual(parts.slice(0, 2));
  },
);
