/**
 * Comments of TypeScript files are at most 120 characters wide. `node scripts/comment-width.ts` wraps those that are
 * wider.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { execFileSync } from "node:child_process";

const WIDTH = 120;
/** Directives must stay on one line; others wrote the generated files and the recorded truth. */
const DIRECTIVE = /^\/\/\s*(?:oxlint|eslint|@ts-|prettier|#)/;
const NOT_OURS = /(?:\.generated\.ts|\.d\.ts)$|\/(?:truth|fixtures)\//;
/** The first line of a paragraph: a list entry, a tag, a heading, or a table row. A code line is indented. */
const STARTS = /^(?:[-*] |\d+\. |@\w|#|\|)/;

/** Every comment line that is wider than 120 characters, as "file:line". */
export function checkCommentWidth(root: string): string[] {
  return sources(root).flatMap((file) =>
    tooWide(readFileSync(resolve(root, file), "utf8")).map(
      (line) => `${file}:${line}: the comment is wider than ${WIDTH} characters; run: node scripts/comment-width.ts`,
    ),
  );
}

/** The numbers of the lines, from 1, at which a comment is too wide. */
export function tooWide(source: string): number[] {
  return commentsOf(source.split("\n"))
    .filter(({ lines }) => lines.some((line) => line.length > WIDTH))
    .map(({ from }) => from + 1);
}

/** `source` with each comment that is too wide wrapped; other comments and all code are unchanged. */
export function wrapComments(source: string): string {
  const lines = source.split("\n");
  for (const comment of commentsOf(lines).toReversed()) {
    if (comment.lines.some((line) => line.length > WIDTH)) {
      lines.splice(comment.from, comment.lines.length, ...(comment.block ? block(comment.lines) : run(comment.lines)));
    }
  }
  return lines.join("\n");
}

interface Comment {
  /** Index of the first line. */
  readonly from: number;
  readonly lines: string[];
  readonly block: boolean;
}

/** Comments that have their lines for themselves: blocks of `/**`, and runs of `//` at one depth. */
function commentsOf(lines: readonly string[]): Comment[] {
  const found: Comment[] = [];
  for (let i = 0; i < lines.length; i += 1) {
    const text = lines[i]!.trimStart();
    if (text.startsWith("/**")) {
      const length = lines.slice(i).findIndex((line) => line.includes("*/")) + 1;
      if (length > 0 && lines[i + length - 1]!.trimEnd().endsWith("*/")) {
        found.push({ from: i, lines: lines.slice(i, i + length), block: true });
      }
      i += Math.max(length, 1) - 1;
    } else if (text.startsWith("//") && !DIRECTIVE.test(text)) {
      const depth = lines[i]!.length - text.length;
      const rest = lines.slice(i).findIndex((line) => !isRun(line, depth));
      const length = rest === -1 ? lines.length - i : rest;
      found.push({ from: i, lines: lines.slice(i, i + length), block: false });
      i += length - 1;
    }
  }
  return found;
}

function isRun(line: string, depth: number): boolean {
  const text = line.trimStart();
  return text.startsWith("//") && line.length - text.length === depth && !DIRECTIVE.test(text);
}

function block(lines: readonly string[]): string[] {
  const indent = lines[0]!.slice(0, lines[0]!.indexOf("/"));
  const body = lines.map((line, i) => {
    const open = i === 0 ? line.trimStart().slice(3) : line.trimStart().replace(/^\*(?!\/)/, "");
    return (i === lines.length - 1 ? open.replace(/\s*\*\/\s*$/, "") : open).replace(/^ /, "").trimEnd();
  });
  if (body[0] === "") body.shift();
  if (body.at(-1) === "") body.pop();
  const wrapped = reflow(body, WIDTH - indent.length - 3);
  return [`${indent}/**`, ...wrapped.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}

function run(lines: readonly string[]): string[] {
  const indent = lines[0]!.slice(0, lines[0]!.indexOf("/"));
  const body = lines.map((line) => line.trimStart().slice(2).replace(/^ /, "").trimEnd());
  return reflow(body, WIDTH - indent.length - 3).map((line) => `${indent}// ${line}`.trimEnd());
}

/** Paragraphs with a line wider than `width` are filled again; the others keep their lines. */
function reflow(body: readonly string[], width: number): string[] {
  const paragraphs: string[][] = [];
  let code = false;
  for (const line of body) {
    const fence = line.trimStart().startsWith("```");
    const alone = code || fence || line === "" || /^ {2}/.test(line) || STARTS.test(line.trimStart());
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

function sources(root: string): string[] {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "--", "*.ts"], {
    cwd: root,
    encoding: "utf8",
  });
  return listed.split("\n").filter((file) => file !== "" && !NOT_OURS.test(file));
}

if (import.meta.main) {
  const root = resolve(import.meta.dirname, "..");
  for (const file of sources(root)) {
    const source = readFileSync(resolve(root, file), "utf8");
    const wrapped = wrapComments(source);
    if (wrapped !== source) writeFileSync(resolve(root, file), wrapped);
  }
}
