import type { ASTNode } from "@marcbachmann/cel-js";

/** A node of a parsed expression, as the CEL library has it. */
export type CelNode = ASTNode;

/** A call as it is written: `name(args)` or `receiver.name(args)`. */
export interface CelCall {
  readonly name: string;
  readonly receiver: CelNode | undefined;
  readonly args: readonly CelNode[];
}

/** The call that a node is; undefined for other nodes. */
export function callOf(node: CelNode): CelCall | undefined {
  if (node.op === "call") return { name: node.args[0], receiver: undefined, args: node.args[1] };
  return node.op === "rcall" ? { name: node.args[0], receiver: node.args[1], args: node.args[2] } : undefined;
}

/** The type that the checker found, as the library names it; "dyn" when it found none. */
export function typeOf(node: CelNode): string {
  const { checkedType } = node as { checkedType?: { name: string } };
  return checkedType?.name ?? "dyn";
}

/** Nodes directly below. */
export function childrenOf(node: CelNode): readonly CelNode[] {
  if (node.op === "call") return node.args[1];
  if (node.op === "rcall") return [node.args[1], ...node.args[2]];
  if (node.op === "." || node.op === ".?") return [node.args[0]];
  if (node.op === "!_" || node.op === "-_") return [node.args];
  if (node.op === "map") return node.args.flat();
  return node.op === "value" || node.op === "id" ? [] : node.args;
}

/** Every node, from the top down; without recursion, since chains of operators are as deep as they are long. */
export function* nodesOf(root: CelNode): Generator<CelNode> {
  const left = [root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    yield node;
    left.push(...childrenOf(node).toReversed());
  }
}

/**
 * Operators within operators that an expression may have, as cel-go's parser counts them: chains of && and || count as
 * one.
 */
const MAXIMUM_DEPTH = 250;
/** The same with those chains, which are walked here operator by operator. */
const MAXIMUM_CHAIN = 1000;

/** Whether an expression has more levels than cel-go takes, or than can be walked. Without recursion. */
export function isTooDeep(root: CelNode): boolean {
  const left = [{ node: root, depth: 0, all: 0 }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { node, depth, all } = next;
    if (depth > MAXIMUM_DEPTH || all > MAXIMUM_CHAIN) return true;
    const isLogic = node.op === "&&" || node.op === "||";
    for (const child of childrenOf(node)) left.push({ node: child, depth: isLogic ? depth : depth + 1, all: all + 1 });
  }
  return false;
}

/** Macros that walk a list or map with one variable, or with two. */
const MACROS: ReadonlyMap<string, readonly number[]> = new Map([
  ["all", [2, 3]],
  ["exists", [2, 3]],
  ["exists_one", [2]],
  ["existsOne", [2, 3]],
  ["filter", [2]],
  ["map", [2, 3]],
  ["transformList", [3, 4]],
  ["transformMap", [3, 4]],
  ["transformMapEntry", [3, 4]],
]);

/** Whether a call is a macro over a list or map, such as `self.all(x, x > 0)`, and not a function of that name. */
export function isMacro({ name, receiver, args }: CelCall): boolean {
  return receiver !== undefined && args[0]?.op === "id" && (MACROS.get(name)?.includes(args.length) ?? false);
}
