import type { Generator, Step } from "../input.ts";
import { FIXED, objectOf, pathOf, PLURALS, type Tree } from "../objects.ts";
import type { Random } from "../random.ts";
import { anyValue, hostileJson, hostileText, mutated } from "../values.ts";
import { withMetadata } from "./json.ts";

function patch(random: Random, plural: string, type: string, body: string): Step {
  const validation = random.pick(["", "", "&fieldValidation=Strict", "&fieldValidation=Ignore"]);
  const name = random.chance(0.95) ? FIXED : "absent";
  const below = random.chance(0.1) ? "/status" : "";
  return {
    method: "PATCH",
    path: `${pathOf(plural, name)}${below}?dryRun=All${validation}`,
    headers: { "content-type": type },
    body,
  };
}

type Operation = { op: string; path: string; from?: string; value?: unknown };

/** Sequences of JSON Patch operations that are known to grow or to cost. */
const SEQUENCES: readonly ((random: Random, n: number) => Operation[])[] = [
  (random, n) => [
    { op: "add", path: "/metadata/annotations", value: { x: "v".repeat(random.size(2000)) } },
    ...many(Math.min(n, 60), (i) => ({
      op: "copy",
      from: "/metadata/annotations",
      path: `/metadata/annotations/x${i}`,
    })),
  ],
  (_, n) => [
    { op: "add", path: "/data", value: { list: ["x"] } },
    ...many(Math.min(n, 60), () => ({ op: "copy", from: "/data/list", path: "/data/list/-" })),
  ],
  (_, n) => [
    { op: "add", path: "/metadata/finalizers", value: [] },
    ...many(n, (i) => ({ op: "add", path: "/metadata/finalizers/0", value: `example.com/f${i}` })),
  ],
  (_, n) => [
    { op: "add", path: "/metadata/finalizers", value: Array.from({ length: n }, (_v, i) => `example.com/f${i}`) },
    ...many(n, () => ({ op: "remove", path: "/metadata/finalizers/0" })),
  ],
  (_, n) => [
    { op: "add", path: "/data", value: Object.fromEntries(Array.from({ length: n }, (_v, i) => [`k${i}`, "v"])) },
    ...many(n, () => ({ op: "test", path: "/data", value: {} })),
  ],
  (_, n) => [
    { op: "add", path: "/data", value: Object.fromEntries(Array.from({ length: n }, (_v, i) => [`k${i}`, "v"])) },
    ...many(n, (i) => ({ op: "move", from: `/data/k${i}`, path: `/data/m${i}` })),
  ],
  (_, n) => many(n, (i) => ({ op: "replace", path: "/metadata/labels", value: { a: `${i}` } })),
  (_, n) => many(n, (i) => ({ op: "add", path: `/metadata/labels/${"a".repeat(i % 50)}`, value: "x" })),
  (_, n) => [{ op: "add", path: `/${"a/".repeat(n)}`, value: 1 }],
  (_, n) => [{ op: "add", path: `/data/${"~1~0".repeat(n)}`, value: "1" }],
  (_, n) => {
    const deep = Array.from({ length: Math.min(n, 1000) }).reduce<unknown>((inner) => ({ a: inner }), {});
    return [{ op: "add", path: "/data", value: deep }];
  },
  (_, n) =>
    [
      { op: "add", path: "/data", value: {} },
      ...many(n, (i) => ({ op: "add", path: `/data${"/a".repeat(i + 1)}`, value: {} })),
    ].slice(0, 1500),
  (_, n) => [
    { op: "add", path: "/data", value: {} },
    ...many(n, (i) => ({ op: "copy", from: "/metadata", path: `/data/c${i}` })),
  ],
];

export const jsonPatch: Generator = (random) => {
  const plural = random.pick(["configmaps", random.pick(PLURALS)]);
  const operations = random.chance(0.5)
    ? random.pick(SEQUENCES)(random, random.size(10_500))
    : Array.from({ length: random.between(1, 12) }, () => operation(random, plural));
  const body = random.chance(0.1) ? hostileJson(random) : JSON.stringify(operations);
  return [patch(random, plural, "application/json-patch+json", body)];
};

function operation(random: Random, plural: string): unknown {
  const pointers = pointersOf(objectOf(plural, FIXED));
  const pointer = (): string =>
    random.chance(0.85)
      ? random.pick(pointers) + random.pick(["", "", "/-", "/0", "/x", "/99999999999", "/~2"])
      : hostileText(random);
  if (random.chance(0.05)) return anyValue(random);
  const op = random.pick(["add", "add", "remove", "replace", "move", "copy", "copy", "test", "?"]);
  return { op, path: pointer(), from: pointer(), value: anyValue(random) };
}

function pointersOf(value: unknown, prefix = ""): string[] {
  if (typeof value !== "object" || value === null) return [prefix];
  const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
  return [prefix, ...Object.entries(value).flatMap(([key, inner]) => pointersOf(inner, `${prefix}/${escaped(key)}`))];
}

export const mergePatch: Generator = (random) => {
  const plural = random.pick(PLURALS);
  const body = random.chance(0.2) ? hostileJson(random) : mutated(random, partOf(random, withMetadata(random, plural)));
  return [patch(random, plural, "application/merge-patch+json", body)];
};

export const strategicPatch: Generator = (random) => {
  const plural = random.pick(["pods", "deployments", "services", random.pick(PLURALS)]);
  const tree = directed(random, partOf(random, withMetadata(random, plural))) as Tree;
  const body = random.chance(0.1) ? hostileJson(random) : mutated(random, tree, random.between(0, 3));
  return [patch(random, plural, "application/strategic-merge-patch+json", body)];
};

/** Puts directives of strategic merge patches into a tree. */
function directed(random: Random, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items: unknown[] = value.map((item) => directed(random, item));
    if (random.chance(0.2)) items.push({ $patch: random.pick(["replace", "delete", "merge", "?"]) });
    return items;
  }
  if (typeof value !== "object" || value === null) return value;
  const result: Tree = {};
  for (const [key, inner] of Object.entries(value)) {
    result[key] = directed(random, inner);
    if (random.chance(0.2)) result[`$setElementOrder/${key}`] = order(random);
    if (random.chance(0.1)) result[`$deleteFromPrimitiveList/${key}`] = order(random);
  }
  if (random.chance(0.15)) result["$patch"] = random.pick(["replace", "delete", "merge", 1]);
  if (random.chance(0.15)) result["$retainKeys"] = random.chance(0.7) ? Object.keys(value) : order(random);
  return result;
}

function order(random: Random): unknown[] {
  const keyed = random.chance(0.7);
  const same = random.chance(0.3);
  return Array.from({ length: random.size(3000) }, (_, i) => {
    const name = `n${same ? 0 : i}`;
    return keyed ? { name, key: name, containerPort: i, port: i, ip: name } : name;
  });
}

/** Some of the fields of an object. */
function partOf(random: Random, tree: Tree): Tree {
  if (random.chance(0.5)) return tree;
  return Object.fromEntries(Object.entries(tree).filter(() => random.chance(0.7)));
}

function many(count: number, operation: (i: number) => Operation): Operation[] {
  return Array.from({ length: count }, (_, i) => operation(i));
}
