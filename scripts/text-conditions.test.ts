import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkTextConditions } from "./text-conditions.ts";

const root = mkdtempSync(join(tmpdir(), "text-conditions-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
mkdirSync(join(root, "packages/a/src"), { recursive: true });
const write = (file: string, ...lines: readonly string[]): void =>
  writeFileSync(join(root, "packages/a/src", file), lines.join("\n"));
write(
  "by-text.ts",
  'if (condition.reason.startsWith("Waiting")) return;',
  "return /Ignored/.test(reason);",
  'return messageOf(error).includes("too long");',
  'return (found.message ?? "").includes("x");',
  "return /-members?$/.test(step.type);",
  "return ordinary.test(reason);",
  "return objects.filter(({ reason }) => TERMINAL.has(reason));",
  "return TABLE[condition.reason];",
  'return condition?.reason === "Waiting";',
  'if (status["reason"] !== "NodeLost") return;',
  'switch (found.reason ?? "") {',
  'return KNOWN.includes(waiting.reason ?? "");',
);
write(
  "by-field.ts",
  'if (hasCode(error, "X")) return;',
  'return names.includes("a") && condition.reason === EVICTED;',
  'return typeof found.message === "string" && found.message !== "";',
  "return { reason, message: message.slice(0, 10) };",
  "if (reason === undefined) return;",
);

test("the check of conditions on texts refuses conditions on the words of a reason, a message or a step's type", () => {
  expect(checkTextConditions(root, {})).toEqual(
    Array.from({ length: 12 }, (_, i) => i + 1).map(
      (line) => `packages/a/src/by-text.ts:${line} decides by the text of a reason, message or type; use a field`,
    ),
  );
});

test("the check of conditions on texts accepts exceptions, and refuses those that read no text", () => {
  expect(checkTextConditions(root, { "a/src/by-text.ts": "x", "a/src/by-field.ts": "x" })).toEqual([
    "scripts/text-conditions.ts: remove a/src/by-field.ts from the exceptions: it reads no such text",
  ]);
});
