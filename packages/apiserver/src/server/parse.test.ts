import { describe, expect, it } from "vitest";
import { MAXIMUM_DEPTH } from "../bounds.ts";
import { growthOf, LINEAR } from "../testing/growth.ts";
import { duplicatesOf } from "../json/duplicates.ts";
import { MAXIMUM_TOKENS, MAXIMUM_YAML } from "./parse-yaml.ts";
import { parsedJson, parsedYaml } from "./parse.ts";
import { statusOf } from "../errors/status.ts";

const POST = { method: "POST", kind: "ConfigMap" };

function refusal(work: () => unknown): { code: number; message?: string } {
  try {
    work();
  } catch (error) {
    const { code, message = "" } = statusOf(error);
    return { code, message };
  }
  return { code: 0 };
}

const yamlOf = (text: string): unknown => parsedYaml(text, POST);
const jsonOf = (text: string): unknown => parsedJson(text, POST);

describe("reading a YAML body", () => {
  it("takes time linear in the number of keys", () => {
    const keys = (count: number): string => Array.from({ length: count }, (_, i) => `key-${i}: a value`).join("\n");
    expect(growthOf(keys, yamlOf, 200)).toBeLessThan(LINEAR);
  });

  it("takes time linear in the number of keys given twice, and reports the first hundred", () => {
    const twice = (count: number): string =>
      Array.from({ length: count }, (_, i) => `key-${i >> 1}: a value`).join("\n");
    expect(growthOf(twice, yamlOf, 200)).toBeLessThan(LINEAR);
    const found = duplicatesOf(yamlOf(twice(1200)) as object);
    expect(found).toHaveLength(100);
    expect(found[0]).toBe('line 2: key "key-0" already set in map');
  });

  it("takes time linear in the number of broken tokens", () => {
    const broken = (count: number): string => `a: ${"]".repeat(count)}`;
    expect(growthOf(broken, (text) => refusal(() => yamlOf(text)), 1000)).toBeLessThan(LINEAR);
    expect(refusal(() => yamlOf(broken(5000)))).toMatchObject({
      code: 400,
      message: expect.stringContaining("(must be of type ConfigMap): yaml: ") as string,
    });
  });

  it("refuses a text with more bytes or tokens than YAML may have", () => {
    const limit = (text: string) => refusal(() => yamlOf(text));
    expect(limit(`a: ${"x".repeat(MAXIMUM_YAML)}`)).toMatchObject({
      code: 413,
      message: expect.stringContaining(`limit is ${MAXIMUM_YAML} for YAML`) as string,
    });
    for (const unit of ["abcd, "]) {
      expect(limit(`a: [${unit.repeat(MAXIMUM_TOKENS)}]`)).toMatchObject({
        code: 413,
        message: expect.stringContaining(`limit is ${MAXIMUM_TOKENS} tokens`) as string,
      });
    }
    // Nothing but separators costs more for each byte than other texts.
    expect(limit(`[${"a,".repeat(20_000)}]`)).toMatchObject({
      code: 413,
      message: expect.stringMatching(/limit is 28001 tokens/) as string,
    });
    expect(yamlOf(`a: [${"a,".repeat(2000)}]`)).toHaveProperty("a");
    expect(yamlOf(`a: ${"x".repeat(MAXIMUM_YAML - 10)}`)).toMatchObject({ a: expect.any(String) as string });
  });

  it("reads JSON of any size as JSON", () => {
    const items = Array.from({ length: MAXIMUM_TOKENS }, (_, i) => i);
    expect(yamlOf(JSON.stringify({ items }))).toEqual({ items });
    const twice = `{"a":${JSON.stringify(items)},\n"a":${JSON.stringify(items)}${" ".repeat(MAXIMUM_YAML)}}`;
    expect(duplicatesOf(yamlOf(twice) as object)).toEqual(['line 2: key "a" already set in map']);
  });

  it("reports keys given twice in JSON by their lines, as in all YAML", () => {
    const text = '{"a": {\n"b": 1, "b": [\n{"c:": 1, "c:": "\\"d\\": 1"}]},\n\n"a": 2,\n"a": 3}';
    expect(yamlOf(text)).toEqual({ a: 3 });
    expect(duplicatesOf(yamlOf(text) as object)).toEqual([
      'line 2: key "b" already set in map',
      'line 3: key "c:" already set in map',
      'line 5: key "a" already set in map',
      'line 6: key "a" already set in map',
    ]);
    expect(duplicatesOf(yamlOf(`#\n${text}`) as object)).toEqual(duplicatesOf(yamlOf(`\n${text}`) as object));
  });

  it.each([
    ["lists in brackets", "[", "]"],
    ["objects in braces", "{a: ", "}"],
    ["lists on one line", "- ", ""],
  ])("refuses %s beyond the limit of levels, and reads them below it", (_, open, close) => {
    const nested = (levels: number): string => `a:\n  ${open.repeat(levels)}1${close.repeat(levels)}`;
    for (const levels of [MAXIMUM_DEPTH + 2, 20_000]) {
      const message = expect.stringContaining("exceeded max depth") as string;
      expect(refusal(() => yamlOf(nested(levels)))).toMatchObject({ code: 400, message });
    }
    expect(yamlOf(nested(MAXIMUM_DEPTH - 10))).toHaveProperty("a");
  });

  it("refuses aliases that make a body longer than bodies may be, and gives each alias a value of its own", () => {
    const nested = `a: &a [x,x]\n${["ba", "cb", "dc"].map(([to, from]) => `${to}: &${to} [${`*${from},`.repeat(40)}]\n`).join("")}`;
    const long = `a: &a ${"x".repeat(100_000)}\nb: [${"*a,".repeat(60)}]`;
    for (const text of [nested, long]) {
      expect(refusal(() => yamlOf(text))).toMatchObject({
        code: 400,
        message: expect.stringMatching(/alias/i) as string,
      });
    }
    const { a, b } = yamlOf("a: &a {x: 1}\nb: *a") as Record<string, { x: number }>;
    expect(a).toEqual(b);
    expect(a).not.toBe(b);
  });

  it("takes time linear in the number of anchors, aliases and errors", () => {
    const lines = (count: number, line: (i: number) => string): string =>
      Array.from({ length: count }, (_, i) => line(i)).join("\n");
    const aliases = (count: number): string =>
      `${lines(count, (i) => `some-${i}: &x${i} a value`)}\n${lines(count, (i) => `other-${i}: *x${i}`)}`;
    const tags = (count: number): string => "!a ".repeat(count);
    const directives = (count: number): string => `${"%UNKNOWN directive\n".repeat(count)}---\na: 1`;
    for (const text of [aliases, tags, directives]) {
      expect(growthOf(text, (made) => refusal(() => yamlOf(made)), 200)).toBeLessThan(LINEAR);
    }
    expect(yamlOf(aliases(300))).toMatchObject({ "some-299": "a value", "other-0": "a value", "other-299": "a value" });
  });

  it("reads an alias as the value of the last anchor before it, and refuses one without an anchor or within its own", () => {
    expect(yamlOf("a: &x 1\nb: &y [*x, {c: *x}]\nc: &x 2\nd: *y\ne: *x\n&k f: *k\n__proto__: *y")).toEqual(
      JSON.parse('{"a":1,"b":[1,{"c":1}],"c":2,"d":[1,{"c":1}],"e":2,"f":"f","__proto__":[1,{"c":1}]}'),
    );
    const why = (text: string) => refusal(() => yamlOf(text)).message;
    expect(why("a: *x")).toContain("yaml: unknown anchor 'x' referenced");
    expect(why("a: &x {b: *x}")).toContain("yaml: anchor 'x' value contains itself");
    const chain = Array.from({ length: 600 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}]`).join("\n");
    expect(why(`a0: &a0 1\n${chain}`)).toMatch(/exceeded max depth|excessive aliasing/);
  });

  it("reports the first error once, and reads the first document whatever follows it", () => {
    expect(refusal(() => yamlOf("a:\n  b: [{c: !a !b d}]")).message).toMatch(
      /\): yaml: line 2: A node can have at most one tag \(/,
    );
    for (const rest of ["---\n[", "...\n]", "---\nb: !a !a c", "# comment\n\n"]) {
      expect(yamlOf(`a: 1\n${rest}`), rest).toEqual({ a: 1 });
    }
    expect(yamlOf("%X y\n---\na: 1\n")).toEqual({ a: 1 });
  });

  it("reads YAML 1.1 as go-yaml does: times and numbers in base 60 are strings, keys are scalars", () => {
    expect(yamlOf("t: 2026-01-01T00:00:00Z\nd: 2026-01-01\ns: 12:30:45\nb: yes\no: 0b11\nm: 1_000\nx: 010")).toEqual({
      t: "2026-01-01T00:00:00Z",
      d: "2026-01-01",
      s: "12:30:45",
      b: true,
      o: 3,
      m: 1000,
      x: 8,
    });
    for (const text of ["? {a: b}\n: c", "? [a]\n: c", "a: .inf"]) {
      expect(refusal(() => yamlOf(text)).code, text).toBe(400);
    }
    expect(yamlOf("a: 1\n---\nb: [")).toEqual({ a: 1 });
  });
});

describe("reading a JSON body", () => {
  it("refuses more levels than the limit, and reads as many as the limit", () => {
    const nested = (levels: number): string => `${'{"a":'.repeat(levels - 1)}[]${"}".repeat(levels - 1)}`;
    for (const levels of [MAXIMUM_DEPTH + 1, 100_000]) {
      const message = expect.stringMatching(/json parse error: invalid character '[[{]' exceeded max depth/) as string;
      expect(refusal(() => jsonOf(nested(levels)))).toMatchObject({ code: 400, message });
      expect(refusal(() => jsonOf("[".repeat(3 * levels)))).toMatchObject({ code: 400, message });
    }
    expect(jsonOf(nested(MAXIMUM_DEPTH))).toHaveProperty("a");
    expect(jsonOf(JSON.stringify({ a: "[".repeat(100_000) }))).toHaveProperty("a");
  });

  it("reads lone halves of surrogate pairs as U+FFFD, in keys too", () => {
    expect(jsonOf('{"a":"\\ud800","b":["x\\uDC00\\ud83d\\ude00"],"\\udfff":{"c":"\\ud800"}}')).toEqual({
      a: "\ufffd",
      b: ["x\ufffd😀"],
      "\ufffd": { c: "\ufffd" },
    });
    expect(yamlOf('{"a":"\\ud800"}')).toEqual({ a: "\ufffd" });
  });

  it("reports at most a hundred fields given twice, in time linear in the text", () => {
    const twice = (count: number): string =>
      `{${Array.from({ length: count }, (_, i) => `"k${i >> 1}":{"x":1}`).join(",")}}`;
    expect(duplicatesOf(jsonOf(twice(2000)) as object)).toHaveLength(100);
    expect(growthOf(twice, jsonOf, 1000)).toBeLessThan(LINEAR);
    const long = "\\n".repeat(1_000_000);
    expect(duplicatesOf(jsonOf(`{"a":"${long}","a":1}`) as object)).toEqual(['duplicate field "a"']);
  });
});
