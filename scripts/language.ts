/**
 * The words of docs/style.md that are replaced: no comment, string or page uses them, apart from the exceptions below.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** Not checked: the table of the words itself. An exception without a use must be removed. */
const EXCEPTIONS: readonly string[] = ["docs/style.md"];

const REPLACED: readonly (readonly [word: string, instead: string])[] = [
  ["tol" + "d", "reported, returned, logged"],
  ["tel" + "ls", "reports, returns, logs"],
  ["ane" + "w", "again; recreate"],
  ["men" + "d", "fix, repair"],
  ["men" + "ds", "fixes, repairs"],
  ["men" + "ded", "fixed, repaired"],
  ["bea" + "rs", "has"],
  ["nobod" + "y", "the name of the actor: no user, no controller"],
  ["somebod" + "y", "the name of the actor"],
  ["whoeve" + "r", "the name of the actor"],
  ["let " + "go", "release"],
  ["named " + "otherwise", "renamed"],
  ["besid" + "e", "next to, in addition to"],
  ["chosen " + "once", "immutable"],
  ["stands " + "in the way", "blocks"],
  ["stand " + "in the way", "block"],
];
const FOUND = new RegExp(`\\b(?:${REPLACED.map(([word]) => word).join("|")})\\b`, "giu");
/** By extension, and programs without one. */
const READ = /(?:\.(?:ts|js|mjs|mts|md|sh|yaml|go|py)|(?:^|\/)[a-z-]+)$/;
/** What others wrote, which our words must equal, and what is not in the repository. */
const RECORDED = /\/(?:truth|fixtures|files\/etc|node_modules|\.vitepress\/(?:dist|cache))\//;
const UNTRACKED = /^(?:\.git|\.build|\.causeway|coverage|node_modules)$/;

/** Every use of a replaced word in the checkout, as "file:line", and every exception that is not needed any more. */
export function checkLanguage(root: string, exceptions: readonly string[] = EXCEPTIONS): string[] {
  const excepted = exceptions.map((place) => [place, wordsIn(root, [place])] as const);
  const unused = excepted.filter(([, uses]) => uses.length === 0);
  return [
    ...wordsIn(
      root,
      readdirSync(root).filter((name) => !UNTRACKED.test(name)),
    ).filter((use) => !exceptions.some((place) => use.startsWith(`${place}/`) || use.startsWith(`${place}:`))),
    ...unused.map(([place]) => `scripts/language.ts: remove ${place} from the exceptions: it uses no replaced word`),
  ];
}

/** Every use of a replaced word in the files and folders `places`, as "file:line". */
export function wordsIn(root: string, places: readonly string[]): string[] {
  return places.flatMap((place) => filesOf(join(root, place))).flatMap((file) => problemsOf(root, file));
}

function filesOf(path: string): string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat ? [path] : [];
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && READ.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !RECORDED.test(file));
}

function problemsOf(root: string, file: string): string[] {
  const text = readFileSync(file, "utf8");
  // A program that was built here is no text.
  if (text.includes("\0")) return [];
  return text.split("\n").flatMap((line, i) =>
    [...line.matchAll(FOUND)].map(([word]) => {
      const instead = REPLACED.find(([known]) => known === word.toLowerCase())?.[1] ?? "";
      return `${relative(root, file)}:${i + 1} uses "${word}"; write: ${instead}`;
    }),
  );
}
