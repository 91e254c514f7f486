import type { Generator, Step } from "../input.ts";
import { FIXED, objectOf, pathOf, PLURALS, type Tree } from "../objects.ts";
import type { Random } from "../random.ts";
import { hostileText, mutated } from "../values.ts";
import { withMetadata } from "./json.ts";
import { yamlText } from "./yaml.ts";

const MOST_MANAGERS = 12;

/** Server-side apply: one changed object, lists of many elements, and many managers of the same fields. */
export const apply: Generator = (random, index) => {
  if (random.chance(0.08)) return manyManagers(random, index);
  const plural = random.pick(PLURALS);
  const name = random.chance(0.7) ? FIXED : `fuzz-${index}`;
  const tree = withMetadata(random, plural);
  const metadata: Tree = { ...(tree["metadata"] as Tree), name };
  if (random.chance(0.9)) delete metadata["managedFields"];
  const body = random.chance(0.15)
    ? yamlText(random, plural)
    : mutated(random, { ...tree, metadata, ...(random.chance(0.2) ? lists(random, plural) : {}) });
  const manager = random.chance(0.8)
    ? random.word()
    : encodeURIComponent(hostileText(random).toWellFormed().slice(0, 300));
  return [applied(pathOf(plural, name), { manager, body, force: random.chance(0.6) })];
};

function applied(path: string, options: { manager: string; body: string; force: boolean; isReal?: boolean }): Step {
  const { manager, body, force, isReal } = options;
  const query = `fieldManager=${manager}${force ? "&force=true" : ""}${isReal ? "" : "&dryRun=All"}`;
  return {
    method: "PATCH",
    path: `${path}?${query}`,
    headers: { "content-type": "application/apply-patch+yaml" },
    body,
  };
}

/** Many elements in the lists whose elements have keys. */
function lists(random: Random, plural: string): Tree {
  const n = random.size(3000);
  const same = random.chance(0.2);
  const key = (i: number): string => `n${same ? 0 : i}`;
  const items = (item: (i: number) => unknown): unknown[] => Array.from({ length: n }, (_, i) => item(i));
  if (plural === "widgets") {
    return { spec: { map: items((i) => ({ key: key(i) })), set: items(key) } };
  }
  if (plural === "services") return { spec: { ports: items((i) => ({ name: key(i), port: 1 + (i % 65_000) })) } };
  const env = items((i) => ({ name: key(i), value: random.chance(0.5) ? "v" : `$(${key(i + 1)})` }));
  return { spec: { containers: [{ name: "main", image: "a", env }], hostAliases: items((i) => ({ ip: key(i) })) } };
}

/** Managers that own the same fields of one object, which is deleted at the end. */
function manyManagers(random: Random, index: number): Step[] {
  const name = `managed-${index}`;
  const data = Object.fromEntries(Array.from({ length: random.size(1000) }, (_, i) => [`k${i}`, "v"]));
  const body = JSON.stringify({ ...objectOf("configmaps", name), data });
  const path = pathOf("configmaps", name);
  const managers = Array.from({ length: random.between(2, MOST_MANAGERS) }, (_, i) => `manager-${i}`);
  return [
    ...managers.map((manager) => applied(path, { manager, body, force: true, isReal: true })),
    { method: "DELETE", path, isPreparation: true },
  ];
}
