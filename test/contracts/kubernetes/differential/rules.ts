import type { Json } from "../interface.ts";
import type { Choices } from "./choices.ts";

/** CEL rules from a small grammar, about the fields that a schema has. */
export function rulesFor(c: Choices, schema: Json): Json[] {
  const candidates = expressionsFor(schema);
  if (candidates.length === 0) return [];
  return c.several(1, 2, () => {
    const rule = candidates[c.below(candidates.length)] ?? "true";
    return {
      rule,
      ...c.fields(40, { message: () => c.pick(["it must not be so", "never"]) }),
      ...c.fields(12, {
        reason: () => c.pick(["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired"]),
        messageExpression: () => "'said by ' + 'an expression'",
      }),
    };
  });
}

function expressionsFor(schema: Json): string[] {
  const transition = ["self == oldSelf"];
  switch (schema["type"]) {
    case "integer":
      return ["self <= 5", "self >= oldSelf", "self % 2 == 0", ...transition];
    case "string":
      if (schema["format"] !== undefined) return transition;
      return ["self != 'c'", "size(self) < 3", "self.startsWith('a')", "self.matches('^[ab]*$')", ...transition];
    case "boolean":
      return ["self || !oldSelf", "self"];
    case "array":
      return ["size(self) < 3", "size(self) >= size(oldSelf)"];
    case "object":
      return objectExpressions(schema);
    default:
      return [];
  }
}

function objectExpressions(schema: Json): string[] {
  if (schema["properties"] === undefined) return schema["additionalProperties"] === undefined ? [] : ["size(self) < 3"];
  const properties = schema["properties"] as Readonly<Record<string, Json>>;
  const names = Object.keys(properties);
  const has = names.flatMap((name) => [`has(self.${name})`, `!has(self.${name}) || has(self.${names[0] ?? name})`]);
  const integers = names.filter((name) => properties[name]?.["type"] === "integer");
  const [low, high] = integers;
  const strings = names.filter((name) => properties[name]?.["type"] === "string" && !properties[name]?.["format"]);
  return [
    ...has,
    ...(low && high ? [`!has(self.${low}) || !has(self.${high}) || self.${low} <= self.${high}`] : []),
    ...strings.map((name) => `!has(self.${name}) || self.${name} != 'bad'`),
    ...integers.map((name) => `!has(self.${name}) || !has(oldSelf.${name}) || self.${name} >= oldSelf.${name}`),
  ];
}
