/**
 * Writes the programs of programs/ into files.generated.ts: `node packages/openstack-operator/src/programs/embed.ts`.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PROGRAMS = join(import.meta.dirname, "../../programs");

/** The module with the text of every program. */
export function embedded(folder = PROGRAMS): string {
  const names = readdirSync(folder).toSorted();
  const entries = names.map(
    (name) => `  ${JSON.stringify(name)}: ${JSON.stringify(readFileSync(join(folder, name), "utf8"))},`,
  );
  return `// Written by embed.ts. Do not edit.\nexport const files: Readonly<Record<string, string>> = {\n${entries.join("\n")}\n};\n`;
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, "files.generated.ts"), embedded());
