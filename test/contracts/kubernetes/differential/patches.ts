import type { Json } from "../interface.ts";
import type { Choices } from "./choices.ts";
import { fragment } from "./corrupt.ts";

/** A JSON patch about the places that a body has. */
export function jsonPatch(c: Choices, body: Json): unknown {
  const { apiVersion: _version, kind: _kind, ...rest } = body;
  const places = placesOf(rest, "");
  const place = (): [string, unknown] =>
    places[c.below(Math.max(places.length, 1))] ?? ["/metadata/labels", { app: "x" }];
  if (c.chance(4))
    return c.pick<unknown>([
      { op: "add" },
      [{ op: "grow", path: "/a" }],
      [{ op: "add", path: "a", value: 1 }],
      [{ op: "add", path: "/spec" }],
    ]);
  return c.several(1, 3, () => {
    const [path, value] = place();
    switch (c.below(6)) {
      case 0:
        return { op: "add", path, value };
      case 1:
        return { op: "replace", path, value };
      case 2:
        return { op: "remove", path };
      case 3:
        return { op: "test", path, value };
      case 4:
        return { op: c.pick(["copy", "move"]), from: path, path: place()[0] };
      default:
        return {
          op: "add",
          path: Array.isArray(value) ? `${path}/-` : path,
          value: Array.isArray(value) ? (value[0] ?? "x") : value,
        };
    }
  });
}

function placesOf(value: unknown, path: string): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const below = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return [[below, child] as [string, unknown], ...placesOf(child, below)];
  });
}

/** A strategic merge patch: a part of a body, with directives here and there. */
export function strategicPatch(c: Choices, body: Json): Json {
  return directed(c, fragment(c, body, true)) as Json;
}

/**
 * Lists whose items a strategic merge finds by a key. An order of any other list of objects ends the connection: Go
 * cannot compare them.
 */
const ORDERED: Readonly<Record<string, string>> = {
  conditions: "type",
  containers: "name",
  env: "name",
  hostAliases: "ip",
  imagePullSecrets: "name",
  initContainers: "name",
  ownerReferences: "uid",
  ports: "port",
  secrets: "name",
  volumeMounts: "mountPath",
  volumes: "name",
};

function directed(c: Choices, value: unknown): unknown {
  if (Array.isArray(value)) return directedList(c, value as unknown[]);
  if (typeof value !== "object" || value === null) return value;
  const result: Json = {};
  for (const [name, child] of Object.entries(value)) {
    result[name] = directed(c, child);
    if (!Array.isArray(child) || !c.chance(10)) continue;
    const key = ORDERED[name];
    const scalars = (child as unknown[]).every((item) => typeof item !== "object");
    if (scalars) {
      // Which comes first, the list or what is removed from it, is chance in kube-apiserver: Go goes through a map in
      // no order.
      delete result[name];
      result[`$deleteFromPrimitiveList/${name}`] = child;
    } else if (key !== undefined) {
      const order = (child as Json[]).map((item) => ({ [key]: item[c.chance(80) ? key : "name"] }));
      result[`$setElementOrder/${name}`] = order.toReversed();
    }
  }
  if (c.chance(4)) result["$patch"] = c.pick(["replace", "delete", "merge", "other"]);
  if (c.chance(4)) result["$retainKeys"] = Object.keys(value).slice(0, 2);
  return result;
}

function directedList(c: Choices, items: readonly unknown[]): unknown[] {
  const made = items.map((item) => directed(c, item));
  if (c.chance(8)) made.push({ $patch: "replace" });
  const [first] = items as Json[];
  if (first && typeof first === "object" && c.chance(15)) made[0] = { name: first["name"], $patch: "delete" };
  return made;
}
