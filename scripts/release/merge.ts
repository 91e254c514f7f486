/** The changelog of the whole project, from those of its packages. */

const KINDS = ["Major Changes", "Minor Changes", "Patch Changes"];

/** The changelog of one package, as changesets writes it. */
export interface PackageChangelog {
  /** Without the scope: `openstack`. */
  readonly name: string;
  readonly text: string;
}

/**
 * The section of `version` in Markdown: each entry once, with the packages that it concerns. Empty when none has one.
 */
export function sectionOf(version: string, changelogs: readonly PackageChangelog[]): string {
  const found = new Map<string, Map<string, string[]>>();
  for (const { name, text } of changelogs) {
    for (const { kind, entry } of entriesOf(version, text)) {
      const entries = found.get(kind) ?? new Map<string, string[]>();
      entries.set(entry, [...(entries.get(entry) ?? []), name]);
      found.set(kind, entries);
    }
  }
  const parts = KINDS.flatMap((kind) => {
    const entries = [...(found.get(kind) ?? [])];
    return entries.length === 0 ? [] : [`### ${kind}`, entries.map(([entry, names]) => named(entry, names)).join("\n")];
  });
  return parts.length === 0 ? "" : [`## ${version}`, ...parts].join("\n\n");
}

/** `changelog` with `section` as its newest; the same again changes nothing. */
export function withSection(changelog: string, section: string): string {
  const [title = ""] = section.split("\n", 1);
  if (section === "" || changelog.split("\n").includes(title)) return changelog;
  const first = changelog.search(/^## /m);
  const [head, rest] = first < 0 ? [changelog, ""] : [changelog.slice(0, first), changelog.slice(first)];
  return `${head.trimEnd()}\n\n${section}\n${rest === "" ? "" : `\n${rest}`}`;
}

function entriesOf(version: string, text: string): { kind: string; entry: string }[] {
  const lines = text.split("\n");
  const start = lines.indexOf(`## ${version}`);
  if (start < 0) return [];
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith("## "));
  const section = lines.slice(start + 1, length < 0 ? undefined : start + 1 + length);
  const entries: { kind: string; entry: string }[] = [];
  let kind = "";
  for (const line of section) {
    const last = entries.at(-1);
    if (line.startsWith("### ")) kind = line.slice(4).trim();
    else if (line.startsWith("- ")) entries.push({ kind, entry: line });
    else if (last && line.startsWith("  ")) last.entry += `\n${line}`;
  }
  return entries.filter((one) => KINDS.includes(one.kind));
}

/** The first line of the entry with the packages' names after it. */
function named(entry: string, names: readonly string[]): string {
  const [first, ...rest] = entry.split("\n");
  return [`${first} (${names.join(", ")})`, ...rest].join("\n");
}
