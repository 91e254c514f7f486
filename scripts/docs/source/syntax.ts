import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";

/** A node of a syntax tree (ESTree), with the nodes that it is in. */
export interface Place {
  readonly node: SyntaxNode;
  /** From the innermost outwards. */
  readonly within: readonly SyntaxNode[];
}

export interface SyntaxNode {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** One file of the product. */
export interface SourceFile {
  /** From the root of the repository. */
  readonly path: string;
  /** The package's folder name. */
  readonly package: string;
  readonly program: SyntaxNode;
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";

/** The product's sources whose text matches, without tests. */
export function sourceFiles(root: string, mentions: RegExp): SourceFile[] {
  const paths = globSync("packages/*/src/**/*.ts", { cwd: root }).filter(
    (path) => !/\.test\.ts$|\/testing\/|\/generated\//.test(path),
  );
  return paths.sort().flatMap((path) => {
    const text = readFileSync(join(root, path), "utf8");
    if (!mentions.test(text)) return [];
    const program = parseSync(path, text).program as unknown as SyntaxNode;
    return [{ path, package: path.split("/")[1] ?? "", program }];
  });
}

/** Every node below, depth first. */
export function* places(node: SyntaxNode, within: readonly SyntaxNode[] = []): Generator<Place> {
  yield { node, within };
  const outer = [node, ...within];
  for (const value of Object.values(node)) {
    for (const each of [value].flat()) if (isNode(each)) yield* places(each, outer);
  }
}

/** The value of an object literal's property, if it is written there. */
export function property(object: SyntaxNode, name: string): SyntaxNode | undefined {
  const properties = (object["properties"] ?? []) as SyntaxNode[];
  const found = properties.find(({ key }) => isNode(key) && (key["name"] === name || key["value"] === name));
  return found?.["value"] as SyntaxNode | undefined;
}

/** What a variable of that name was declared as, searched from the inside outwards; undefined for a parameter. */
export function declared(name: string, within: readonly SyntaxNode[]): SyntaxNode | undefined {
  for (const scope of within) {
    const body = (scope["body"] ?? []) as SyntaxNode | SyntaxNode[];
    for (const statement of Array.isArray(body) ? body : []) {
      const declaration = (statement["declaration"] as SyntaxNode | null | undefined) ?? statement;
      for (const each of (declaration["declarations"] ?? []) as SyntaxNode[]) {
        if ((each["id"] as SyntaxNode)["name"] === name) return (each["init"] ?? undefined) as SyntaxNode | undefined;
      }
    }
  }
  return undefined;
}

/** The texts that an expression can be, with `…` for what is computed; [] where nothing of it is known. */
export function texts(node: SyntaxNode | undefined, within: readonly SyntaxNode[], depth = 0): string[] {
  if (node === undefined || depth > 6) return [];
  const inner = (each: unknown) => texts(each as SyntaxNode, within, depth + 1);
  switch (node.type) {
    case "Literal":
      return typeof node["value"] === "string" ? [node["value"]] : [];
    case "TemplateLiteral": {
      const holes = (node["expressions"] as SyntaxNode[]).map((each) => {
        const known = inner(each);
        return known.length === 1 && !known[0]?.includes("…") ? known[0] : "…";
      });
      const parts = (node["quasis"] as SyntaxNode[]).map(({ value }) => (value as { cooked: string }).cooked);
      return [parts.map((part, index) => part + (holes[index] ?? "")).join("")];
    }
    case "ConditionalExpression":
      return [...inner(node["consequent"]), ...inner(node["alternate"])];
    case "LogicalExpression":
      return [...inner(node["left"]), ...inner(node["right"])];
    case "BinaryExpression": {
      const [left, right] = [inner(node["left"]), inner(node["right"])];
      return node["operator"] === "+" ? [`${left[0] ?? "…"}${right[0] ?? "…"}`] : [];
    }
    case "ParenthesizedExpression":
    case "TSAsExpression":
    case "TSSatisfiesExpression":
      return inner(node["expression"]);
    case "Identifier":
      return texts(declared(node["name"] as string, within), within, depth + 1);
    default:
      return [];
  }
}
