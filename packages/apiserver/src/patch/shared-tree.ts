import { MAXIMUM_DEPTH, scalarBytes } from "../bounds.ts";
import { isMembers, type Node, put } from "../json/values.ts";

/** More levels than an object may have. */
export class TooDeep extends Error {}

/**
 * A JSON value in which one part may be in several places. Only containers of the tree's own are changed, and each
 * of these is in one place: a copy costs nothing until one of the two is changed, and then one container on each
 * level.
 */
export class Tree {
  root: Node;
  readonly #own = new Set<Node>();
  /** Containers that are no longer the tree's own do not change: they are measured once. */
  readonly #measures = new Map<Node, Measure>();
  readonly #spend: (work: number) => void;

  /** `spend` is called with the number of members that are copied for a change. */
  constructor(root: Node, spend: (work: number) => void) {
    this.root = root;
    this.#spend = spend;
  }

  at(path: readonly string[]): Node | undefined {
    let node: Node | undefined = this.root;
    for (const step of path) {
      node = childOf(node, step);
      if (node === undefined) return undefined;
    }
    return node;
  }

  /** What is at a path that exists, as a container that may be changed. */
  own(path: readonly string[]): Node {
    let node = (this.root = this.#owned(this.root));
    for (const step of path) {
      const child = this.#owned(childOf(node, step) ?? null);
      if (isMembers(node)) put(node, step, child);
      else if (Array.isArray(node)) node[Number(step)] = child;
      node = child;
    }
    return node;
  }

  #owned(node: Node): Node {
    if (typeof node !== "object" || node === null || this.#own.has(node)) return node;
    const copy: Node = Array.isArray(node) ? node.slice() : { ...node };
    // Lists are copied as a block of memory.
    this.#spend(Array.isArray(node) ? node.length / 160 : Object.keys(node).length);
    this.#own.add(copy);
    return copy;
  }

  /** What is about to be in a second place is not changed any more. */
  share(node: Node): void {
    const stack = [node];
    while (stack.length > 0) {
      const next = stack.pop() ?? null;
      if (this.#own.delete(next)) for (const child of childrenOf(next)) stack.push(child);
    }
  }

  /** About as many bytes as its JSON text has. Throws TooDeep. */
  bytesOf(node: Node): number {
    return this.#measured(node, 0).bytes;
  }

  #measured(node: Node, above: number): Measure {
    if (typeof node !== "object" || node === null) return { bytes: scalarBytes(node), depth: 0 };
    const known = this.#measures.get(node);
    if (above + (known?.depth ?? 1) > MAXIMUM_DEPTH) throw new TooDeep();
    if (known) return known;
    const measure = { bytes: 2, depth: 1 };
    if (isMembers(node)) for (const key of Object.keys(node)) measure.bytes += key.length + 3;
    for (const child of childrenOf(node)) {
      const { bytes, depth } = this.#measured(child, above + 1);
      measure.bytes += 1 + bytes;
      measure.depth = Math.max(measure.depth, 1 + depth);
    }
    if (!this.#own.has(node)) this.#measures.set(node, measure);
    return measure;
  }

  /** The value with no part in two places, and none of what the tree began with. It has been measured before. */
  separate(): Node {
    return this.#separated(this.root);
  }

  #separated(node: Node): Node {
    if (Array.isArray(node)) return node.map((item) => this.#separated(item));
    if (!isMembers(node)) return node;
    const copy: Node = {};
    for (const [key, member] of Object.entries(node)) put(copy, key, this.#separated(member));
    return copy;
  }
}

interface Measure {
  readonly bytes: number;
  readonly depth: number;
}

function childrenOf(node: Node): Node[] {
  if (Array.isArray(node)) return node;
  return isMembers(node) ? Object.values(node) : [];
}

function childOf(node: Node, step: string): Node | undefined {
  if (isMembers(node)) return Object.hasOwn(node, step) ? node[step] : undefined;
  return Array.isArray(node) && isIndex(step, node.length - 1) ? node[Number(step)] : undefined;
}

/** Whether a step of a JSON pointer is an index up to `maximum`, without leading zeros (RFC 6901). */
export function isIndex(step: string, maximum: number): boolean {
  return /^(0|[1-9]\d{0,8})$/.test(step) && Number(step) <= maximum;
}
