/**
 * The words of docs/style.md that are replaced: no comment, string or page uses them, apart from the exceptions below.
 * Some of them are names in code (a parameter `taken`): those are searched for in prose only.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { proseOf } from "./prose.ts";
import { EVERYWHERE, IN_PROSE, OF_KUBERNETES, UPSTREAM, type Replaced } from "./replaced-words.ts";

/** Not checked: the table of the words itself. An exception without a use must be removed. */
const EXCEPTIONS: readonly string[] = ["docs/style.md"];
/** Generated from what others wrote, and the table of the replaced words. */
const NO_PROSE = /\.generated\.ts$|(?:^|\/)scripts\/replaced-words\.ts$/;
const ABOUT_KUBERNETES = /^(?:packages\/apiserver|test\/contracts\/kubernetes|test\/hostile|tools\/kubernetes)\//;

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
  const name = relative(root, file);
  const inProse = NO_PROSE.test(name) ? [] : [...IN_PROSE, ...(ABOUT_KUBERNETES.test(name) ? OF_KUBERNETES : [])];
  // Few files have such a word at all: only those are parsed.
  const prose = inProse.length > 0 && SUSPECT.test(text) ? proseOf(file, text) : "";
  return [...(REFUSED.test(text) ? usesIn(text, EVERYWHERE) : []), ...usesIn(blankUpstream(prose), inProse)]
    .toSorted((a, b) => a.line - b.line)
    .map(({ line, used, instead }) => `${name}:${line} uses "${used}"; write: ${instead}`);
}

/** One pattern for all of them, which most files do not have: one pass over a text. */
const anyOf = (replaced: readonly Replaced[]): RegExp =>
  new RegExp(replaced.map(({ pattern }) => pattern.source).join("|"), "i");
const REFUSED = anyOf(EVERYWHERE);
/** A comment may be broken between two words. */
const SUSPECT = new RegExp(anyOf([...IN_PROSE, ...OF_KUBERNETES]).source.replaceAll("\\s+", "[\\s*/]+"), "i");

const blankUpstream = (text: string): string => text.replace(UPSTREAM, (found) => " ".repeat(found.length));

interface Use {
  readonly line: number;
  readonly used: string;
  readonly instead: string;
}

const usesIn = (text: string, replaced: readonly Replaced[]): Use[] =>
  replaced.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
      line: text.slice(0, index).split("\n").length,
      used: found.replace(/\s+/g, " "),
      instead,
    })),
  );
