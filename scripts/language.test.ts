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
