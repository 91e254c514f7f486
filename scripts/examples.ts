/** Every package shows how its main function is called: an `@example` in the doc comment of a name that it exports. */
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { parseSync } from "oxc-parser";
import { publicNames, type PublicName } from "./public-docs.ts";

/** Packages without an example, and examples that are no TypeScript or do not use what they are an example of. */
export function checkExamples(root: string): string[] {
  const names = publicNames(root);
  const documented = names.flatMap((name) => examplesOf(name).map((code) => ({ ...name, code })));
  const lacking = readdirSync(join(root, "packages"))
    .filter((folder) => names.some(({ inPackage }) => inPackage === folder))
    .filter((folder) => !documented.some(({ inPackage }) => inPackage === folder))
    .map((folder) => `packages/${folder}: no exported name has an @example in its doc comment`);
  const wrong = documented.flatMap(({ name, file, before, code }) => {
    const at = `${relative(root, file)}:${before.split("\n").length}: the example of ${name}`;
    // As the body of a module, which may await.
    const [error] = parseSync("example.ts", `${code}\nexport {};`).errors;
    if (error) return [`${at} is no TypeScript: ${error.message}`];
    return code.includes(name) ? [] : [`${at} does not use it`];
  });
  return [...lacking, ...wrong];
}

/** The examples in the doc comment right before a declaration. */
function examplesOf({ before }: PublicName): string[] {
  const trimmed = before.trimEnd();
  if (!trimmed.endsWith("*/")) return [];
  const [, ...tagged] = trimmed
    .slice(trimmed.lastIndexOf("/**") + 3, -2)
    .replace(/^[^\S\n]*\*[^\S\n]?/gm, "")
    .split(/(?:^|\s)@example\b/);
  return tagged.map((text) => (text.split(/^@\w+/m, 1)[0] ?? "").replace(/^```\w*$/gm, "").trim());
}
