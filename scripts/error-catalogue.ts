/**
 * The table of errors (docs/reference/errors/) and the code, held together in both directions: every code that is
 * thrown, shown or compared is documented, and every documented code is in the code.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** Codes that are put together from parts: what a source has in place of the code. */
const COMPOSED: readonly (readonly [code: RegExp, source: (code: string) => string])[] = [
  // `apiError(409, "Conflict", …)` and the client's table of reasons.
  [/^KUBERNETES_/, (code) => `"${pascal(code.slice("KUBERNETES_".length))}"`],
  [/^(?:FLAVOR|IMAGE)_NOT_FOUND$/, () => "_NOT_FOUND`"],
];

const CODE = "[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+";
/** Documented on the page of the package that throws it. */
const THROWN = new RegExp(String.raw`new (?:Causeway|Input)Error\(\s*"(${CODE})"`, "g");
/** Documented on some page: conditions and events show it, or a caller compares it. */
const SHOWN = new RegExp(
  String.raw`(?:\bcode: |\bhasCode\([^,()]+, |\b(?:fail|refuse|refusal|user)\(\s*)"(${CODE})"`,
  "g",
);

/** Every code of a package without a row, and every row without a code. */
export function checkErrorCatalogue(root: string): string[] {
  const names = readdirSync(join(root, "packages"));
  const pages = new Map(names.map((name) => [name, documentedIn(pageOf(root, name))]));
  const documented = new Set([...pages.values()].flat());
  const sources = new Map(names.map((name) => [name, sourcesBelow(join(root, "packages", name, "src"))]));
  const all = [...sources.values()].flat().map(({ code }) => code);
  return names.flatMap((name) => {
    const own = pages.get(name) ?? [];
    const page = relative(root, pageOf(root, name));
    return [
      ...(sources.get(name) ?? []).flatMap(({ file, code }) => [
        ...codesIn(code, THROWN)
          .filter((thrown) => !own.includes(thrown))
          .map((thrown) => `${relative(root, file)}: ${thrown} is not in ${page}`),
        ...codesIn(code, SHOWN)
          .filter((shown) => !documented.has(shown))
          .map((shown) => `${relative(root, file)}: ${shown} is on no page of docs/reference/errors`),
      ]),
      ...own
        .filter((code, i) => own.indexOf(code) !== i)
        .map((code) => `${page}: ${code} has two rows; errors that differ have codes that differ`),
      ...own.filter((code) => !isIn(all, code)).map((code) => `${page}: no source has ${code}; remove its row`),
    ];
  });
}

const pageOf = (root: string, name: string): string => join(root, "docs/reference/errors", `${name}.md`);

function documentedIn(page: string): string[] {
  if (!existsSync(page)) return [];
  return [...readFileSync(page, "utf8").matchAll(/^\| `?([A-Z][A-Z0-9_]+)`? /gm)].map(([, code = ""]) => code);
}

/** Sources of the program, without comments. */
function sourcesBelow(dir: string): { readonly file: string; readonly code: string }[] {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter(({ name }) => /\.(?:ts|js)$/.test(name) && !name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes("/testing/"))
    .map((file) => ({ file, code: readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "") }));
}

const codesIn = (code: string, pattern: RegExp): string[] => [
  ...new Set([...code.matchAll(pattern)].map(([, found = ""]) => found)),
];

function isIn(sources: readonly string[], code: string): boolean {
  const whole = new RegExp(String.raw`\b${code}\b`);
  const parts = COMPOSED.filter(([pattern]) => pattern.test(code)).map(([, source]) => source(code));
  return sources.some((text) => whole.test(text) || parts.some((part) => text.includes(part)));
}

const pascal = (suffix: string): string =>
  suffix.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
