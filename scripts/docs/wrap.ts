/** Pages are at most 120 characters wide, apart from tables, code and single words. oxfmt wraps those of people. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const WIDTH = 120;
/** Neither prose nor an entry of a list: a heading, a row, a quotation, HTML. */
const OTHER = /^\s*(?:[#|<>]|```)|^\s*$/;
const ENTRY = /^\s*(?:[-*]|\d+\.) /;
/** Written by tools from what others write here. */
const NOT_OURS = /^(?:CHANGELOG\.md|\.changeset\/)|\/(?:truth|fixtures)\//;

/** The text with each paragraph that is too wide wrapped; all others remain as they are. */
export function wrapMarkdown(text: string): string {
  const lines = text.split("\n");
  const wrapped: string[] = [];
  let [isFenced, wasCode] = [false, false];
  for (let i = 0; i < lines.length;) {
    const line = lines[i] ?? "";
    if (/^\s*```/.test(line)) isFenced = !isFenced;
    // Code is indented after an empty line, or fenced.
    const isCode =
      isFenced || (/^ {4}/.test(line) && !ENTRY.test(line) && (wasCode || OTHER.test(wrapped.at(-1) ?? "")));
    wasCode = isCode;
    if (isCode || OTHER.test(line)) {
      wrapped.push(line);
      i += 1;
      continue;
    }
    let end = i + 1;
    while (end < lines.length && !OTHER.test(lines[end] ?? "") && !ENTRY.test(lines[end] ?? "")) end += 1;
    const paragraph = lines.slice(i, end);
    wrapped.push(...(paragraph.some((each) => each.length > WIDTH) ? filled(paragraph) : paragraph));
    i = end;
  }
  return wrapped.join("\n");
}

function filled(paragraph: readonly string[]): string[] {
  const [first = ""] = paragraph;
  const [begin = ""] = ENTRY.exec(first) ?? /^\s*/.exec(first) ?? [];
  const text = [first.slice(begin.length), ...paragraph.slice(1)].map((line) => line.trim()).join(" ");
  // A span of code remains on one line, as oxfmt leaves it.
  const words = text.match(/(?:`[^`]*`|[^\s`]|`)+/g) ?? [];
  const lines: string[] = [];
  let line = begin;
  let isEmpty = true;
  for (const word of words) {
    // A line must not begin as an entry of a list or a heading.
    const isMarker = /^(?:[-*+#>]|\d+\.)$/.test(word);
    if (!isEmpty && !isMarker && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = " ".repeat(begin.length) + word;
    } else line = isEmpty ? line + word : `${line} ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}

/** Pages with a paragraph that is too wide. */
export function widePages(root: string): string[] {
  return execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.md"], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => file !== "" && !NOT_OURS.test(file))
    .filter((file) => {
      const text = readFileSync(join(root, file), "utf8");
      return wrapMarkdown(text) !== text;
    })
    .map((file) => `${file}: a paragraph is wider than ${WIDTH} characters`);
}
