import { type Json, jsonEqual } from "../../json/values.ts";
import { compileRules } from "../cel/rules.ts";
import { below, type FieldError, invalid, member } from "../field-error.ts";
import type { SchemaNode } from "../node.ts";
import { pruneValue, rootPlace } from "../prune.ts";
import { validateValue } from "../validate.ts";

const OBJECT_FIELDS = new Set(["apiVersion", "kind", "metadata"]);

/** What is wrong with the defaults of a schema: each has to be what the schema itself lets through. */
export function defaultProblems(root: SchemaNode, path: string): FieldError[] {
  return problems(root, { path, isRoot: true, inMetadata: false });
}

interface Place {
  readonly path: string;
  readonly isRoot: boolean;
  readonly inMetadata: boolean;
}

function problems(node: SchemaNode, { path, isRoot, inMetadata }: Place): FieldError[] {
  const isObjectRoot = isRoot || node.embedded;
  const own = node.default === undefined || node.default === null ? [] : valueProblems(node, node.default, path);
  const inside = inMetadata && !node.embedded;
  const items = node.items ? problems(node.items, { path: `${path}.items`, isRoot: false, inMetadata: inside }) : [];
  const members = [...node.properties].flatMap(([name, child]) =>
    problems(child, {
      path: `${path}.properties[${name}]`,
      isRoot: false,
      inMetadata: inside || (isObjectRoot && OBJECT_FIELDS.has(name)),
    }),
  );
  return [...own, ...items, ...members];
}

/** Defaults of what may be a whole number or a string are not held to that. */
function loosened(node: SchemaNode): SchemaNode {
  const { items, additional } = node;
  return {
    ...node,
    intOrString: false,
    properties: new Map([...node.properties].map(([name, child]) => [name, loosened(child)])),
    ...(items ? { items: loosened(items) } : {}),
    ...(typeof additional === "object" ? { additional: loosened(additional) } : {}),
  };
}

function valueProblems(node: SchemaNode, value: Json, path: string): FieldError[] {
  const field = member(path, "default");
  const pruned = pruneValue(node, value, rootPlace(node.embedded), () => {});
  const unpruned = jsonEqual(pruned, value) ? [] : [invalid(field, value, "must not have unknown fields")];
  const within = (e: FieldError): FieldError => ({ ...e, field: below(field, e.field) });
  const wrong = validateValue(loosened(node), value, "").map(within);
  if (wrong.length > 0) return [...unpruned, ...wrong];
  const check = compileRules(node, true);
  const at = (old: Json | undefined): FieldError[] => check(value, old).map(within);
  const asUpdate = at(value);
  return [...unpruned, ...(asUpdate.length > 0 ? asUpdate : at(undefined))];
}
