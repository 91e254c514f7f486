/**
 * Comments are at most 120 characters wide, in TypeScript, JavaScript, Go, YAML, Python and shell programs.
 * `node scripts/comment-width.ts` wraps those that are wider.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { execFileSync } from "node:child_process";

const WIDTH = 120;
/** Directives must remain on one line; others wrote the generated files and the recorded truth. */
const DIRECTIVE = /^(?:\/\/|#)\s*(?:oxlint|eslint|@ts-|prettier|go:|shellcheck|#|!)/;
const NOT_OURS = /(?:\.generated\.ts|\.d\.ts)$|\/(?:truth|fixtures)\/|^deploy\/crds\//;
/** What a comment of its own lines begins with. */
type Marker = "//" | "#";
/** Files whose comments begin with a number sign: by their endings, and programs without one by their first line. */
const NUMBER_SIGN = /\.(?:sh|ya?ml|py)$/;
/** The first line of a paragraph: a list entry, a tag, a heading, or a table row. A code line is indented. */
const STARTS = /^(?:[-*] |\d+\. |@\w|#|\|)/;

/** Every comment line that is wider than 120 characters, as "file:line". */
export function checkCommentWidth(root: string): string[] {
  return sources(root).flatMap((file) =>
    tooWide(readFileSync(resolve(root, file), "utf8"), markerOf(file)).map(
      (line) => `${file}:${line}: the comment is wider than ${WIDTH} characters; run: node scripts/comment-width.ts`,
    ),
  );
}

/** The numbers of the lines, from 1, at which a comment is too wide. */
export function tooWide(source: string, marker: Marker = "//"): number[] {
  return commentsOf(source.split("\n"), marker)
    .filter(({ lines }) => lines.some((line) => line.length > WIDTH))
    .map(({ from }) => from + 1);
}

/** `source` with each comment that is too wide wrapped; other comments and all code are unchanged. */
export function wrapComments(source: string, marker: Marker = "//"): string {
  const lines = source.split("\n");
  for (const { from, lines: written, block: isBlock } of commentsOf(lines, marker).toReversed()) {
    if (written.some((line) => line.length > WIDTH))
      lines.splice(from, written.length, ...(isBlock ? block(written) : run(written, marker)));
  }
  return lines.join("\n");
}

interface Comment {
  /** Index of the first line. */
  readonly from: number;
  readonly lines: string[];
  readonly block: boolean;
}

/** Comments that have their lines for themselves: blocks of `/**` or `/*`, and runs of one marker at one depth. */
function commentsOf(lines: readonly string[], marker: Marker): Comment[] {
  const found: Comment[] = [];
  for (let i = 0; i < lines.length; i += 1) {
    const text = lines[i]!.trimStart();
    if (marker === "//" && text.startsWith("/*")) {
      const length = lines.slice(i).findIndex((line) => line.includes("*/")) + 1;
      if (length > 0 && lines[i + length - 1]!.trimEnd().endsWith("*/")) {
        found.push({ from: i, lines: lines.slice(i, i + length), block: true });
      }
      i += Math.max(length, 1) - 1;
    } else if (text.startsWith(marker) && !DIRECTIVE.test(text)) {
      const depth = lines[i]!.length - text.length;
      const rest = lines.slice(i).findIndex((line) => !isRun(line, depth, marker));
      const length = rest === -1 ? lines.length - i : rest;
      found.push({ from: i, lines: lines.slice(i, i + length), block: false });
      i += length - 1;
    }
  }
  return found;
}

function isRun(line: string, depth: number, marker: Marker): boolean {
  const text = line.trimStart();
  return text.startsWith(marker) && line.length - text.length === depth && !DIRECTIVE.test(text);
}

function block(lines: readonly string[]): string[] {
  const indent = lines[0]!.slice(0, lines[0]!.indexOf("/"));
  const opening = /^\/\*\*?/.exec(lines[0]!.trimStart())![0];
  const body = lines.map((line, i) => {
    const open = i === 0 ? line.trimStart().slice(opening.length) : line.trimStart().replace(/^\*(?!\/)/, "");
    return (i === lines.length - 1 ? open.replace(/\s*\*\/\s*$/, "") : open).replace(/^ /, "").trimEnd();
  });
  if (body[0] === "") body.shift();
  if (body.at(-1) === "") body.pop();
  const wrapped = reflow(body, WIDTH - indent.length - 3);
  return [`${indent}${opening}`, ...wrapped.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}

function run(lines: readonly string[], marker: Marker): string[] {
  const indent = lines[0]!.slice(0, lines[0]!.indexOf(marker));
  const body = lines.map((line) => line.trimStart().slice(marker.length).replace(/^ /, "").trimEnd());
  const width = WIDTH - indent.length - marker.length - 1;
  return reflow(body, width).map((line) => `${indent}${marker}${line.startsWith("\t") ? "" : " "}${line}`.trimEnd());
}

/** Paragraphs with a line wider than `width` are filled again; the others keep their lines. */
function reflow(body: readonly string[], width: number): string[] {
  const paragraphs: string[][] = [];
  let code = false;
  for (const line of body) {
    const fence = line.trimStart().startsWith("```");
    const alone = code || fence || line === "" || /^(?: {2}|\t)/.test(line) || STARTS.test(line.trimStart());
    if (fence) code = !code;
    const last = paragraphs.at(-1);
    if (alone || !last || last[0] === "" || last[0]!.startsWith("```")) paragraphs.push([line]);
    else last.push(line);
  }
  return paragraphs.flatMap((lines) => (lines.some((line) => line.length > width) ? fill(lines, width) : lines));
}

function fill(lines: readonly string[], width: number): string[] {
  const lead = /^\s*/.exec(lines[0]!)![0];
  const hang = lead + (/^(?:[-*] |\d+\. )/.exec(lines[0]!.trimStart())?.[0].replace(/./g, " ") ?? "");
  const filled: string[] = [];
  let line = lead;
  for (const word of lines.join(" ").trim().split(/\s+/)) {
    const begins = line.trim() === "";
    if (!begins && line.length + 1 + word.length > width) {
      filled.push(line);
      line = hang + word;
    } else line = begins ? line + word : `${line} ${word}`;
  }
  return [...filled, line];
}

const markerOf = (file: string): Marker => (/\.(?:m?[jt]s|go)$/.test(file) ? "//" : "#");

function sources(root: string): string[] {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  return listed.split("\n").filter((file) => file !== "" && !NOT_OURS.test(file) && hasComments(root, file));
}

function hasComments(root: string, file: string): boolean {
  if (/\.(?:m?[jt]s|go)$/.test(file) || NUMBER_SIGN.test(file)) return existsSync(resolve(root, file));
  if (/\.\w+$/.test(file)) return false;
  const path = resolve(root, file);
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true && readFileSync(path, "utf8").startsWith("#!");
}

if (import.meta.main) {
  const root = resolve(import.meta.dirname, "..");
  for (const file of sources(root)) {
    const source = readFileSync(resolve(root, file), "utf8");
    const wrapped = wrapComments(source, markerOf(file));
    if (wrapped !== source) writeFileSync(resolve(root, file), wrapped);
  }
}
