import type { Json } from "../interface.ts";
import type { Choices } from "./choices.ts";

const FORMATTED: Readonly<Record<string, [string, ...string[]]>> = {
  "date-time": ["2001-01-01T00:00:00Z", "2001-01-01T00:00:00.5+01:00", "soon"],
  byte: ["YQ==", "?"],
  uuid: ["3f2504e0-4f89-11d3-9a0c-0305e82c3301", "no"],
  ipv4: ["192.0.2.1", "300.0.0.1"],
  ipv6: ["2001:db8::1", "x"],
  duration: ["1h", "5s", "later"],
  email: ["a@example.com", "a"],
  date: ["2001-01-01", "2001-13-01"],
  uri: ["https://example.com/a", "a b"],
  hostname: ["example.com", "-"],
  cidr: ["192.0.2.0/24", "192.0.2.0"],
};

/** A value that a schema allows, mostly; some of its fields are left out. */
export function valueFor(c: Choices, schema: Json): unknown {
  if (schema["nullable"] === true && c.chance(12)) return null;
  if (schema["x-kubernetes-int-or-string"] === true) return c.pick<unknown>([1, "50%", 0, "x"]);
  if (schema["x-kubernetes-embedded-resource"] === true) return embedded(c);
  switch (schema["type"]) {
    case "object":
      return objectFor(c, schema);
    case "array":
      return listFor(c, schema);
    case "string":
      return stringFor(c, schema);
    case "integer":
      return c.pick([2, 4, 1, 0, 10, 3, 12]);
    case "number":
      return c.pick([1.5, 2, 0.25, 10.5, 1e3]);
    case "boolean":
      return c.pick([true, false]);
    default:
      return anything(c);
  }
}

function stringFor(c: Choices, schema: Json): string {
  const format = schema["format"] as string | undefined;
  const known = format === undefined ? undefined : FORMATTED[format];
  if (known) return c.chance(10) ? (known.at(-1) ?? "") : c.pick(known);
  return c.pick(["a", "b", "ab", "a", "c", "a1", "bad", ""]);
}

function objectFor(c: Choices, schema: Json): Json {
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, Json>>;
  const required = (schema["required"] ?? []) as readonly string[];
  const result: Json = {};
  for (const [name, child] of Object.entries(properties)) {
    if (c.chance(required.includes(name) ? 95 : 55)) result[name] = valueFor(c, child);
  }
  const additional = schema["additionalProperties"] as Json | undefined;
  if (additional) for (const name of ["k1", "k2", "k3"]) if (c.chance(50)) result[name] = valueFor(c, additional);
  if (schema["x-kubernetes-preserve-unknown-fields"] === true && c.chance(50)) result["extra"] = anything(c);
  return result;
}

function listFor(c: Choices, schema: Json): unknown[] {
  const items = schema["items"] as Json;
  const keys = schema["x-kubernetes-list-map-keys"] as readonly string[] | undefined;
  const made = c.several(0, 3, (i) => {
    if (keys === undefined)
      return schema["x-kubernetes-list-type"] === "set" ? distinct(c, items, i) : valueFor(c, items);
    const { name: _name, port: _port, ...rest } = objectFor(c, items);
    const port = keys.includes("port") && c.chance(60) ? { port: c.pick([80, 443]) } : {};
    return { name: c.chance(8) ? "x" : ["x", "y", "z"][i], ...port, ...rest };
  });
  return c.chance(30) ? made.toReversed() : made;
}

function distinct(c: Choices, items: Json, index: number): unknown {
  if (items["type"] === "integer") return c.chance(8) ? 1 : index + 1 + c.below(2);
  if (items["type"] === "boolean") return index === 0;
  return c.chance(8) ? "x" : ["x", "y", "z"][(index + c.below(2)) % 3];
}

function anything(c: Choices): unknown {
  return c.pick<() => unknown>([
    () => ({ a: c.below(3) }),
    () => ({ a: { b: c.pick(["x", "y"]), ...c.fields(40, { c: () => [1, c.below(3)] }) } }),
    () => ({ list: [c.below(2), "x"], n: null }),
    () => ({}),
  ])();
}

function embedded(c: Choices): Json {
  return {
    apiVersion: c.pick(["v1", "example.com/v1", ""]),
    kind: c.pick(["ConfigMap", "Thing"]),
    ...c.fields(60, {
      metadata: () =>
        c.fields(60, {
          name: () => c.pick(["a", "Not Good"]),
          labels: () => ({ a: c.pick(["b", "c"]) }),
          extra: () => 1,
        }),
      data: () => ({ a: "b" }),
    }),
  };
}
