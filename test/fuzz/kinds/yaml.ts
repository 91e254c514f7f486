import { stringify } from "yaml";
import type { Generator } from "../input.ts";
import { objectOf, PLURALS, type Tree } from "../objects.ts";
import type { Random } from "../random.ts";
import { hostileText, mutated } from "../values.ts";
import { write, withMetadata } from "./json.ts";

const HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fuzz\n";

/** Shapes of YAML that are known to hurt parsers. */
const SHAPES: readonly ((random: Random, n: number) => string)[] = [
  (_, n) => `${HEAD}${lines(n, (i) => `key${i}: v`)}`,
  (_, n) => `${HEAD}data:\n${lines(n, (i) => `  key${i}: "${i}"`)}`,
  (_, n) => `${HEAD}data:\n${lines(n, () => "  key: v")}`,
  (_, n) => `${HEAD}data: ${"[".repeat(n)}`,
  (_, n) => `${HEAD}data: ${"[".repeat(n)}${"]".repeat(n)}`,
  (_, n) => `${HEAD}data: ${"{a: ".repeat(n)}1${"}".repeat(n)}`,
  (_, n) => `${HEAD}data:\n${lines(Math.min(n, 700), (i) => `${" ".repeat(i + 1)}a:`)}`,
  (_, n) => `${"- ".repeat(n)}a`,
  (_, n) => `${"? ".repeat(n)}a`,
  (_, n) => `${HEAD}data:\n  a: &a [${"x,".repeat(n)}]\n${lines(n, (i) => `  b${i}: *a`)}`,
  (_, n) => `a0: &a0 x\n${lines(Math.min(n, 60), (i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}, *a${i}]`)}`,
  (_, n) => `a: &a {b: *a}\n${lines(n, () => "c: *a")}`,
  (_, n) => `${lines(n, (i) => `a${i}: &x${i} v`)}\n${lines(n, (i) => `b${i}: *x${i}`)}`,
  (_, n) => `base: &b {a: 1}\n${lines(n, (i) => `m${i}:\n  <<: *b`)}`,
  (_, n) => `base: &b {a: 1}\nall:\n${lines(n, () => "  <<: *b")}`,
  (_, n) => lines(n, () => "---\na: 1"),
  (_, n) => `${HEAD}data: {a: !!binary "${"A".repeat(n)}"}`,
  (_, n) => `${HEAD}data: !!set {${"a,".repeat(n)}}`,
  (_, n) => `${HEAD}data: !!omap [${lines(n, (i) => `a${i}: 1`, ",")}]`,
  (_, n) => `${HEAD}data: [${lines(n, () => "!!float .inf", ",")}]`,
  (_, n) => `${HEAD}data: [${lines(n, (i) => `!<tag:x${i}> a`, ",")}]`,
  (_, n) => lines(n, (i) => `%TAG !e${i}! tag:e${i},2000:`) + "\n---\na: 1",
  (_, n) => `%YAML 1.1\n%YAML 1.2\n${"%X y\n".repeat(n)}---\na: 1`,
  (_, n) => `${HEAD}data:\n  a: |\n${lines(n, () => "    line")}`,
  (_, n) => `${HEAD}data:\n  a: >-\n${lines(n, (i) => `    ${" ".repeat(i % 50)}line`)}`,
  (_, n) => `${HEAD}data:\n  a: plain\n${lines(n, () => "    and more")}`,
  (_, n) => `${HEAD}data:\n  a: "${"\\u0041".repeat(n)}"`,
  (_, n) => `${HEAD}data:\n  a: "${"\\\n ".repeat(n)}"`,
  (_, n) => `${HEAD}data:\n  a: '${"''".repeat(n)}'`,
  (_, n) => `${HEAD}data:\n  a: "${"x".repeat(n)}`,
  (_, n) => lines(n, () => "# comment"),
  (_, n) => `a: b ${"# c ".repeat(n)}`,
  (_, n) => "\n".repeat(n),
  (_, n) => " ".repeat(n),
  (_, n) => "\t".repeat(n),
  (_, n) => ": ".repeat(n),
  (_, n) => "a:".repeat(n),
  (_, n) => "&a ".repeat(n),
  (_, n) => "!a ".repeat(n),
  (_, n) => `[${"a: 1, ".repeat(n)}]`,
  (_, n) => `{${"a, ".repeat(n)}}`,
  (_, n) => `{${lines(n, (i) => `? [${i}] : 1`, ",")}}`,
  (_, n) => `{? {? {? ${"{? ".repeat(n)}`,
  (_, n) => lines(n, (i) => `? [a, ${i}]\n: b`),
  (_, n) => lines(n, (i) => `${i}: 1:2:3.${i}`),
  (_, n) => lines(n, (i) => `2026-01-01 00:00:${i}: 0b1010`),
  (_, n) => `a: ${"1".repeat(n)}`,
  (_, n) => `a: ${"1_".repeat(n)}`,
  (_, n) => `a: ${"1:".repeat(n)}1`,
  (_, n) => `a: 0.${"0".repeat(n)}x`,
  (_, n) => `a: ${"-".repeat(n)}`,
  (_, n) => `a: ${"y ".repeat(n)}: z`,
];

/** Bodies as YAML: valid objects with changes, and shapes that are known to hurt. */
export const yaml: Generator = (random) => {
  const plural = random.pick(PLURALS);
  return [
    write(random, random.chance(0.3) ? plural : "configmaps", {
      body: yamlText(random, plural),
      headers: { "content-type": "application/yaml" },
    }),
  ];
};

export function yamlText(random: Random, plural: string): string {
  if (random.chance(0.5)) return random.pick(SHAPES)(random, random.size(30_000));
  if (random.chance(0.4)) return mutated(random, withMetadata(random, plural));
  return damaged(random, stringify(objectOf(plural, "fuzz") satisfies Tree));
}

/** Takes out, doubles and inserts pieces. */
function damaged(random: Random, text: string): string {
  let result = text;
  for (let i = random.between(1, 6); i > 0; i -= 1) {
    const at = random.below(result.length);
    const end = Math.min(result.length, at + random.size(60));
    const piece = result.slice(at, end);
    const insert = random.pick([
      () => "",
      () => piece + piece,
      () => piece.repeat(random.size(300)),
      () => hostileText(random),
      () =>
        random.pick([
          "&a ",
          "*a",
          "!!str ",
          "<<: ",
          "- ",
          "? ",
          ": ",
          "\n",
          "'",
          '"',
          "|",
          ">",
          "{",
          "[",
          "#",
          "%",
          "@",
          "`",
        ]),
    ])();
    result = (result.slice(0, at) + insert + result.slice(end)).slice(0, 500_000);
  }
  return result;
}

function lines(count: number, line: (i: number) => string, between = "\n"): string {
  return Array.from({ length: count }, (_, i) => line(i)).join(between);
}
