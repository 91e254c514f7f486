import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { growthOf, LINEAR } from "../testing/growth.ts";
import { parsedYaml } from "./parse.ts";
import { writeYaml } from "./write-yaml.ts";

const read = (text: string): unknown => parsedYaml(text, { method: "PUT", kind: undefined });
const older = (text: string): unknown => parse(text, { version: "1.1", merge: false });
const newer = (text: string): unknown => parse(text, { version: "1.2" });

/** Strings that some reader takes for something else when nothing is around them. */
const AMBIGUOUS = (
  "y Y yes on Off N no true False NULL ~ = << - -- --- ... ? : # * & ! | > % @ ` , [ ] { } 0 1 -1 +1 1_000 0b11 0o7 0777 0x1F 1.5 " +
  ". -. +._ .5 5. 1e3 1E-3 .inf -.Inf .nan 12:30:45 1:2 190:20:30.15 2026-01-01 2026-01-01T00:00:00Z"
).split(" ");

const word = fc.oneof(
  fc.constantFrom(...AMBIGUOUS),
  fc.constantFrom(
    "",
    " ",
    "a: b",
    "a:",
    "a #b",
    " a",
    "a ",
    "a\n",
    "a\n\n",
    "\na",
    "a\n b\n",
    "a \nb",
    "\t",
    "a\tb",
    "it's",
    '"',
  ),
  fc.constantFrom(
    "a\r\nb",
    "\u0000",
    "\u0085",
    "\u2028",
    "\ufeffa",
    "\u00a0",
    "héllo",
    "😀",
    "-a",
    "?a",
    ":a",
    "a\n\tb",
    "a\n#b",
  ),
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom(...Array.from("ab01.:-_ \n#'\"\\[]{},&*!|>%@`~=<\t")) }),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    word,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(
      word.filter((key) => key !== "__proto__" && key !== "<<"),
      tie("any"),
      { maxKeys: 4 },
    ),
  ),
})).any;

describe("a response in YAML", () => {
  it("is read back as it was by our reader, and by readers of YAML 1.1 and 1.2", () => {
    fc.assert(
      fc.property(value, (inner) => {
        const whole = { a: inner, list: [inner, [inner]] };
        const text = writeYaml(whole);
        for (const reader of [read, older, newer]) expect(reader(text)).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });

  it("has the form of sigs.k8s.io/yaml", () => {
    const object = {
      kind: "ConfigMap",
      metadata: { name: "a", labels: { a10: "1", a2: "yes", "a.b/c": "x" }, creationTimestamp: "2026-01-01T00:00:00Z" },
      data: { y: "on", o: "=", c: "a: b", l: "a\nb\n", k: "a\nb", e: "", s: "it's", t: "a\tb" },
      items: [{ a: 1, b: [{ c: true }] }, [1, []], {}],
    };
    expect(writeYaml(object)).toBe(
      [
        "data:",
        "  c: 'a: b'",
        '  e: ""',
        "  k: |-",
        "    a",
        "    b",
        "  l: |",
        "    a",
        "    b",
        '  o: "="',
        "  s: it's",
        '  t: "a\\tb"',
        '  "y": "on"',
        "items:",
        "- a: 1",
        "  b:",
        "  - c: true",
        "- - 1",
        "  - []",
        "- {}",
        "kind: ConfigMap",
        "metadata:",
        '  creationTimestamp: "2026-01-01T00:00:00Z"',
        "  labels:",
        "    a.b/c: x",
        '    a2: "yes"',
        '    a10: "1"',
        "  name: a",
        "",
      ].join("\n"),
    );
  });

  it("takes time linear in the size of the value", () => {
    const list = (count: number) => ({
      items: Array.from({ length: count }, (_, i) => ({ name: `n${i}`, text: "a\nb" })),
    });
    expect(growthOf(list, writeYaml, 500)).toBeLessThan(LINEAR);
  });
});
