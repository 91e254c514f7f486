/** Writes the programs of this folder into src/programs/files.generated.ts: `node packages/openstack-operator/programs/embed.ts`. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const own = import.meta.dirname;

/** The module with the text of every program. */
export function embedded(folder = own): string {
  const names = readdirSync(folder)
    .filter((name) => !name.endsWith(".ts"))
    .toSorted();
  const entries = names.map(
    (name) => `  ${JSON.stringify(name)}: ${JSON.stringify(readFileSync(join(folder, name), "utf8"))},`,
  );
  return `// Written by programs/embed.ts. Do not edit.\nexport const files: Readonly<Record<string, string>> = {\n${entries.join("\n")}\n};\n`;
}

if (import.meta.main) writeFileSync(join(own, "../src/programs/files.generated.ts"), embedded());
