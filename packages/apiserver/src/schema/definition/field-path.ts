import { readNode, type SchemaNode } from "../node.ts";

/** Where a path of a rule or a selectable field leads. */
export interface FoundPath {
  /** As messages show it: "spec.names[a]". */
  readonly path: string;
  readonly first: string;
  readonly node: SchemaNode | undefined;
}

/**
 * Follows a path of field names, ".spec.a" or ".spec['a-b']", through a schema; lists are not gone into.
 * Answers what is wrong with it, in kube-apiserver's words, when it leads nowhere.
 */
export function followPath(root: SchemaNode, text: string, brackets = true): FoundPath | string {
  const names = namesOf(text, brackets);
  if (typeof names === "string") return names;
  let node: SchemaNode | undefined = root;
  let path = "";
  for (const name of names) {
    const named: boolean = (node?.properties.size ?? 0) > 0;
    const child: SchemaNode | undefined = named ? node?.properties.get(name) : schemaOf(node?.additional);
    if (!child && (named || node?.additional === undefined)) return "does not refer to a valid field";
    path = named ? (path === "" ? name : `${path}.${name}`) : `${path}[${name}]`;
    node = child;
  }
  return { path, first: names[0] ?? "", node };
}

/** The names of a path one by one, or what is wrong with how it is written. */
function namesOf(text: string, brackets: boolean): string[] | string {
  const tokens = tokensOf(text);
  const names: string[] = [];
  while (tokens.length > 0) {
    const token = tokens.shift() ?? "";
    if (token !== "." && token !== "[") return `expected [ or . but got: ${token}`;
    if (token === "[" && !brackets) return "array notation is not allowed";
    const next = tokens.shift();
    if (next === undefined) return "unexpected end of JSON path";
    const name = token === "." ? next : unquoted(next);
    if (name === undefined) return `expected single quoted string but got ${next}`;
    names.push(name);
    if (token !== "[") continue;
    const end = tokens.shift();
    if (end !== "]") return end === undefined ? "unexpected end of JSON path" : `expected ] but got ${end}`;
  }
  return names;
}

function schemaOf(additional: SchemaNode | true | undefined): SchemaNode | undefined {
  return additional === true ? undefined : additional;
}

function tokensOf(text: string): string[] {
  return text.match(/'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/gs) ?? [];
}

function unquoted(token: string): string | undefined {
  return /^'.*'$/s.test(token) && token.length >= 2 ? token.slice(1, -1).replaceAll(/\\(.)/gs, "$1") : undefined;
}

/** Follows a path through a schema in wire form; answers where it leads, or what is wrong with it. */
export function followFieldPath(
  schema: unknown,
  text: string,
  brackets: boolean,
): { readonly path: string; readonly first: string; readonly type: string } | string {
  const found = followPath(readNode(schema), text, brackets);
  if (typeof found === "string") return found;
  return { path: found.path, first: found.first, type: found.node?.type ?? "" };
}
