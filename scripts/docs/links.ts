import { existsSync, readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";

/** Links of Markdown pages to files and headings that do not exist, as "PAGE:LINE what". */
export function brokenLinks(root: string): string[] {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.md"], {
    cwd: root,
    encoding: "utf8",
  });
  const pages = listed.split("\n").filter((p) => p !== "" && existsSync(join(root, p)));
  const headings = new Map(pages.map((page) => [page, anchorsOf(readFileSync(join(root, page), "utf8"))]));
  return pages.flatMap((page) =>
    linksOf(root, page).flatMap(({ target, line }) => {
      const [file = "", anchor] = target.split("#");
      const path = file === "" ? page : join(dirname(page), file);
      if (!existsSync(join(root, path))) return [`${page}:${line} links to ${target}, which does not exist`];
      if (anchor === undefined || !headings.has(path) || headings.get(path)?.has(anchor)) return [];
      return [`${page}:${line} links to ${target}, and there is no such heading`];
    }),
  );
}

function linksOf(root: string, page: string): { target: string; line: number }[] {
  let fenced = false;
  return readFileSync(join(root, page), "utf8")
    .split("\n")
    .flatMap((text, i) => {
      if (text.startsWith("```")) fenced = !fenced;
      if (fenced) return [];
      const found = [...text.replaceAll(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)].map((m) => m[1] ?? "");
      return found.filter((t) => !/^[a-z]+:/.test(t)).map((target) => ({ target, line: i + 1 }));
    });
}

/** As GitHub makes them of headings. */
function anchorsOf(text: string): Set<string> {
  const headings = text.split("\n").flatMap((line) => /^#+ (.*)$/.exec(line)?.[1] ?? []);
  return new Set(
    headings.map((h) =>
      h
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}
