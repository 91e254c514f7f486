import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Pages that name files and folders for people who search for a place to change. */
const READ = /^(?:docs\/howto\/[^/]+|ARCHITECTURE|CONTRIBUTING)\.md$/;
/** What is not tracked, or is to be written by the reader. */
const OTHERS = /^(?:node_modules|\.causeway)\/|[A-Z]{3,}|[*{<]/;
const IS_PATH =
  /^[\w@.-]+(?:\/[\w@.-]+)*(?:\.(?:ts|js|json|md|yaml)|\/)$|^(?:packages|test|scripts|docs|tools|deploy)\/[\w@./-]+$/;

/** Files and folders that pages name and that do not exist, as "PAGE:LINE what". */
export function missingPaths(root: string): string[] {
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => file !== "");
  const known = endingsOf(files);
  return files
    .filter((file) => READ.test(file))
    .flatMap((page) => {
      const lines = readFileSync(join(root, page), "utf8").split("\n");
      return lines.flatMap((line, i) => problemsOf(root, line, known).map((problem) => `${page}:${i + 1} ${problem}`));
    });
}

/** Every file and folder by all of its endings: pages leave out the first folders of a path. */
function endingsOf(files: readonly string[]): ReadonlySet<string> {
  const endings = new Set<string>();
  for (const file of files) {
    const parts = file.split("/");
    for (let end = 1; end <= parts.length; end += 1) {
      for (let start = 0; start < end; start += 1) endings.add(parts.slice(start, end).join("/"));
    }
  }
  return endings;
}

function problemsOf(root: string, line: string, known: ReadonlySet<string>): string[] {
  const links = [...line.matchAll(/\[([^\]]*)\]\((?:\.\.\/)*(packages\/[^)\s]+)\)/g)];
  const named = links.flatMap(([, text = "", target = ""]) => {
    const path = text.split(", ").at(-1) ?? "";
    return IS_PATH.test(path) && !target.endsWith(`/${path}`) ? [`names ${path}, and links to ${target}`] : [];
  });
  const spans = [...line.matchAll(/`([^`\s]+)`/g)].map(([, span = ""]) => span);
  const paths = spans.filter((span) => IS_PATH.test(span) && !OTHERS.test(span));
  const identifiers = links.length === 1 ? spans.filter((span) => /^[a-z]+[A-Z]\w+$/.test(span)) : [];
  return [
    ...named,
    ...paths
      .filter((path) => !known.has(path.replace(/^(?:\.\.\/)+|\/$/g, "")))
      .map((path) => `names ${path}: no such file or folder`),
    ...identifiers
      .filter((name) => !hasWord(join(root, links[0]?.[2] ?? ""), name))
      .map((name) => `names ${name}, which ${links[0]?.[2] ?? ""} does not have`),
  ];
}

function hasWord(file: string, word: string): boolean {
  try {
    return new RegExp(String.raw`\b${word}\b`).test(readFileSync(file, "utf8"));
  } catch {
    // The check of links reports a file that does not exist.
    return true;
  }
}
