import type { Generator, Step } from "../input.ts";
import { FIXED, NAMESPACE, objectOf, pathOf, PLURALS, type Tree } from "../objects.ts";
import type { Random } from "../random.ts";
import { anyValue, hostileJson, hostileText, mutated } from "../values.ts";

export const JSON_TYPE = { "content-type": "application/json" } as const;

/** Bodies of creates, updates and deletes as JSON: valid objects with changes, and shapes that are no objects. */
export const json: Generator = (random) => {
  const plural = random.pick(PLURALS);
  const body = random.chance(0.15) ? hostileJson(random) : mutated(random, withMetadata(random, plural));
  return [write(random, plural, { body, headers: JSON_TYPE })];
};

/** A write of a body in a dry run: an object's create or update, or the options of its delete. */
export function write(random: Random, plural: string, content: Pick<Step, "body" | "headers">): Step {
  const validation = random.pick(["", "&fieldValidation=Strict", "&fieldValidation=Warn", "&fieldValidation=Ignore"]);
  const options = `?dryRun=All${validation}${random.chance(0.1) ? "&pretty=true" : ""}`;
  const verb = random.below(10);
  if (verb < 6) return { method: "POST", path: `${pathOf(plural)}${options}`, ...content };
  if (verb < 8) return { method: "PUT", path: `${pathOf(plural, FIXED)}${options}`, ...content };
  if (verb === 8) return { method: "PUT", path: `${pathOf(plural, FIXED)}/status${options}`, ...content };
  return { method: "DELETE", path: `${pathOf(plural, random.chance(0.5) ? FIXED : undefined)}?dryRun=All`, ...content };
}

/** An object, at times with as much metadata as one may have. */
export function withMetadata(random: Random, plural: string): Tree {
  const object = objectOf(plural, random.chance(0.5) ? FIXED : `fuzz-${random.word()}`);
  if (random.chance(0.6)) return object;
  const many = (item: (i: number) => unknown): unknown[] =>
    Array.from({ length: random.size(3000) }, (_, i) => item(i));
  const pairs = (): Tree =>
    Object.fromEntries(many((i) => [`k${i}`, random.chance(0.9) ? "v" : hostileText(random)]) as [string, unknown][]);
  const owner = (i: number): Tree => ({
    apiVersion: "v1",
    kind: "Pod",
    name: `o${i}`,
    uid: `u${i}`,
    controller: i > 3,
  });
  const fields = (i: number): Tree => ({
    manager: `m${i}`,
    operation: random.pick(["Apply", "Update", "?"]),
    apiVersion: "v1",
    time: "2026-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1: random.chance(0.5) ? { "f:data": { [`f:k${i}`]: {} } } : anyValue(random),
  });
  const extra = random.pick<() => Tree>([
    () => ({ labels: pairs() }),
    () => ({ annotations: pairs() }),
    () => ({ ownerReferences: many(owner) }),
    () => ({ finalizers: many((i) => `example.com/f${i}`) }),
    () => ({ managedFields: many(fields) }),
    () => ({ generateName: hostileText(random), name: "" }),
    () => ({ namespace: hostileText(random) }),
    () => ({ resourceVersion: hostileText(random), uid: hostileText(random) }),
    () => ({ creationTimestamp: hostileText(random), deletionTimestamp: "2026-01-01T00:00:00Z" }),
  ])();
  const metadata = { ...(object["metadata"] as Tree), namespace: NAMESPACE, ...extra };
  return { ...object, metadata };
}
