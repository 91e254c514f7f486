/** Every error code that the code can throw stands in docs/reference/errors/, and nothing else does. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

export function checkErrorCatalogue(root: string): string[] {
  const problems: string[] = [];
  for (const name of readdirSync(join(root, "packages"))) {
    const page = join(root, "docs/reference/errors", `${name}.md`);
    const documented = existsSync(page)
      ? new Set([...readFileSync(page, "utf8").matchAll(/^\| `?([A-Z][A-Z0-9_]+)`? /gm)].map((m) => m[1] ?? ""))
      : new Set<string>();
    const thrown = codesBelow(join(root, "packages", name, "src"));
    for (const [code, file] of thrown) {
      if (!documented.has(code))
        problems.push(`${relative(root, file)}: ${code} is not in docs/reference/errors/${name}.md`);
    }
  }
  return problems;
}

function codesBelow(dir: string): Map<string, string> {
  const codes = new Map<string, string>();
  for (const entry of readdirSync(dir, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".ts") || entry.name.endsWith(".test.ts")) continue;
    const file = join(entry.parentPath, entry.name);
    if (file.includes("/testing/")) continue;
    for (const match of readFileSync(file, "utf8").matchAll(/new (?:Causeway|Input)Error\(\s*"([A-Z][A-Z0-9_]+)"/g))
      codes.set(match[1] ?? "", file);
  }
  return codes;
}
