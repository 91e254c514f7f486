import { parseSync } from "oxc-parser";
import { describe, expect, test } from "vitest";
import { places, property, texts, type SyntaxNode } from "./syntax.ts";

/** What the property `message` of the first object literal can be. */
function messageOf(source: string): string[] {
  const program = parseSync("case.ts", source).program as unknown as SyntaxNode;
  for (const { node, within } of places(program)) {
    const message = node.type === "ObjectExpression" ? property(node, "message") : undefined;
    if (message) return texts(message, within);
  }
  throw new Error("no object with a message");
}

describe("an expression in the sources is read:", () => {
  test.each<[string, string, string[]]>([
    ["a literal", `f({ message: "gone" })`, ["gone"]],
    ["a template, with its holes", "f({ message: `server ${id} is gone` })", ["server … is gone"]],
    ["a constant around it", `const message = "gone"; f({ message })`, ["gone"]],
    ["a constant within a template", 'const kind = "server"; f({ message: `${kind} ${id}` })', ["server …"]],
    ["either of two", `f({ message: ok ? "here" : "gone" })`, ["here", "gone"]],
    [
      "the inner of two constants",
      `const m = "outer"; function g() { const m = "inner"; f({ message: m }) }`,
      ["inner"],
    ],
    ["a sum", `f({ message: "server " + id })`, ["server …"]],
    ["what a function gives: unknown", `f({ message: text(server) })`, []],
    ["a constant that names itself: unknown", `const m = m; f({ message: m })`, []],
  ])("%s", (_what, source, expected) => {
    expect(messageOf(source)).toEqual(expected);
  });
});
