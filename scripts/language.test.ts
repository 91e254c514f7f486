import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkLanguage, wordsIn } from "./language.ts";

const root = mkdtempSync(join(tmpdir(), "language-"));
afterAll(() => rmSync(root, { recursive: true }));

test("the check of words reports each replaced word with its place and what to write", () => {
  mkdirSync(join(root, "docs/truth"), { recursive: true });
  const word = ["ane", "w"].join("");
  writeFileSync(join(root, "docs/a.md"), `one line\nmade ${word}, and ${word.toUpperCase()}\n`);
  writeFileSync(join(root, "docs/truth/b.md"), word);
  const uses = [
    `docs/a.md:2 uses "${word}"; write: again; recreate`,
    `docs/a.md:2 uses "${word.toUpperCase()}"; write: again; recreate`,
  ];
  expect(wordsIn(root, ["docs", "missing"])).toEqual(uses);
  expect(checkLanguage(root, [])).toEqual(uses);
});

test("the check of words permits the words in an exception, and reports an exception that is not needed", () => {
  expect(checkLanguage(root, ["docs/a.md"])).toEqual([]);
  expect(checkLanguage(root, ["docs"])).toEqual([]);
  expect(checkLanguage(root, ["docs", "packages/clean"])).toEqual([
    "scripts/language.ts: remove packages/clean from the exceptions: it uses no replaced word",
  ]);
});

test("the check of words reads programs without an extension, and skips what was built", () => {
  mkdirSync(join(root, "tools"), { recursive: true });
  const word = ["men", "ded"].join("");
  writeFileSync(join(root, "tools/up"), `# what is ${word}\n`);
  writeFileSync(join(root, "tools/built"), `\0${word}`);
  writeFileSync(join(root, "tools/table.json"), word);
  expect(wordsIn(root, ["tools"])).toEqual([`tools/up:1 uses "${word}"; write: fixed, repaired`]);
});

const words = { asked: ["ask", "ed"].join(""), taken: ["tak", "en"].join(""), views: ["look", "s"].join("") };

function usesIn(file: string, text: string): string[] {
  const folder = file.slice(0, file.lastIndexOf("/"));
  mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, file), text);
  return wordsIn(root, [file]).map((use) => use.slice(file.length + 1));
}

test("the check of words refuses a number of an issue without its project", () => {
  const number = ["issue", "12"].join(" ");
  expect(usesIn("prose/status.md", `# Volumes (${number})\n\nSee kubernetes (kubernetes ${number}).\n`)).toEqual([
    `1 uses "${number}"; write: the subject of the work: readers do not know its number`,
  ]);
});

test("the check of words reads comments and texts of sources, across their lines, and no names", () => {
  const { asked, taken } = words;
  const source = [
    `/** A port is ${taken}. \`${taken}\` is a parameter. */`,
    `export const ${taken} = "${taken}";`,
    `// It goes`,
    `// on until then.`,
    `export const why = \`port \${${taken}} was ${asked} for\`;`,
  ];
  expect(usesIn("prose/a.ts", source.join("\n"))).toEqual([
    `1 uses "${taken}"; write: accepted, in use, created, removed`,
    `3 uses "${["goes", "on"].join(" ")}"; write: continue`,
    `5 uses "${asked}"; write: requested, queried, called`,
  ]);
});

test("the check of words refuses the other forms of a replaced word", () => {
  const [reports, actors] = [
    ["te", "lling"],
    ["every", "one"],
  ].map((parts) => parts.join(""));
  const text = `It is ${reports} ${actors}, and no\none hears. He ${["let", "s go"].join("")}.\n`;
  expect(usesIn("prose/forms.md", text)).toEqual([
    `1 uses "${reports}"; write: report, return, show, send`,
    `1 uses "${actors}"; write: the name of the actor: a user, every client, another controller`,
    `1 uses "${["no", "one"].join(" ")}"; write: the name of the actor: a user, every client, another controller`,
    `2 uses "${["lets", "go"].join(" ")}"; write: release`,
  ]);
});

test("the check of words finds a word after code in a page, and no part of a word", () => {
  const text = `\`a\` and \`b\` and \`c\` play what \`d\` ${words.asked}\n`;
  expect(usesIn("prose/d.md", text)).toEqual([`1 uses "${words.asked}"; write: requested, queried, called`]);
  expect(usesIn("prose/e.md", "`a` and `b` plays, `c` delays\n")).toEqual([]);
});

test.each([
  ["a word in its other sense", `It ${words.views} up what ${words.views} like a name, and titles stand alone.`],
  ["code in a page", `The parameter \`${words.taken}\` is a list.`],
  ["a message of Kubernetes", "invalid character 'x' looking for beginning of value"],
])("the check of words permits %s", (_, text) => {
  expect(usesIn("prose/b.md", `${text}\n`)).toEqual([]);
});

test("the check of words refuses the definition of a custom kind where Kubernetes is meant, and no other one", () => {
  const text = ["a", "definition", "has an overlapping port", "definition"].join(" ");
  expect(usesIn("packages/apiserver/c.md", text)).toEqual(['1 uses "definition"; write: CRD']);
  expect(usesIn("packages/other/c.md", text)).toEqual([]);
});
