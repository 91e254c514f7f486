import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "./page.ts";

/** Folders of pages that have one index each, with the titles and first words of those indexes. */
const FOLDERS = [
  {
    folder: "docs/reference/errors",
    title: "Errors",
    text: "Every error has a code. A page for each package says what happened and what to do.",
  },
  {
    folder: "docs/decisions",
    title: "Decisions",
    text: "Why the plan changed, with the alternatives that were rejected. A newer record may replace an older one.",
  },
];

/** The index of each folder of pages: a line for each page, named by its heading. */
export function indexPages(root: string): Page[] {
  return FOLDERS.map(({ folder, title, text }) => {
    const names = readdirSync(join(root, folder)).filter((name) => name.endsWith(".md") && name !== "index.md");
    const lines = names.toSorted().map((name) => `- [${headingOf(join(root, folder, name))}](${name})`);
    return { path: `${folder}/index.md`, text: `# ${title}\n\n${text}\n\n${lines.join("\n")}\n` };
  });
}

function headingOf(file: string): string {
  const heading = /^# (.+)$/m.exec(readFileSync(file, "utf8"))?.[1];
  if (heading === undefined) throw new Error(`${file} has no heading`);
  return heading;
}
