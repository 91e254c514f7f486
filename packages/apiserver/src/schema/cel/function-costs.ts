import { callOf, childrenOf, type CelNode, typeOf } from "./ast.ts";
import { type Known, type Priced, type CostEstimator, saturated, type Scope, UNBOUNDED } from "./sizes.ts";

/** Passing once over a string costs a tenth of its length. */
const TRAVERSAL = 0.1;
const PATTERN = 0.25;
const COMPARED = new Set(["==", "!="]);
const ORDERED = new Set(["<", "<=", ">", ">="]);
const ONE_TEXT = new Set([
  "cidr",
  "isIP",
  "isCIDR",
  "ip",
  "quantity",
  "isQuantity",
  "semver",
  "isSemver",
  "url",
  "bytes",
]);

interface Operand extends Priced {
  readonly node: CelNode;
  /** The most that it may hold. */
  readonly most: number;
}

interface Priceable {
  readonly name: string;
  readonly receiver: Operand | undefined;
  readonly args: readonly Operand[];
}

/**
 * A call or operator: the prices of cel-go's checker, and those of Kubernetes' own functions (apiserver,
 * pkg/cel/library/cost.go).
 */
export function functionCost(estimator: CostEstimator, node: CelNode, scope: Scope): Priced {
  const call = callOf(node);
  const price = (n: CelNode): Operand => {
    const priced = estimator.price(n, scope);
    return { ...priced, node: n, most: estimator.sizeOf(n, priced) };
  };
  const receiver = call?.receiver && price(call.receiver);
  const args = (call?.args ?? childrenOf(node)).map(price);
  const around = (receiver?.cost ?? 0) + args.reduce((total, a) => total + a.cost, 0);
  const own = ownCost({ name: call?.name ?? node.op, receiver, args }, estimator);
  return { ...own, cost: saturated(around + own.cost) };
}

function ownCost(call: Priceable, estimator: CostEstimator): Priced {
  const { name, receiver, args } = call;
  const [first, second] = args;
  if (COMPARED.has(name) || ORDERED.has(name)) return { cost: comparison(name, first, second), size: 1 };
  if (name === "[]") return indexed(first);
  if (name === "+") return added(first, second);
  if (name === "in") return { cost: isList(second) ? Math.ceil(sizeOf(second)) : 1, size: 1 };
  return receiver ? memberCost(call, receiver, estimator) : globalCost(name, first);
}

function globalCost(name: string, given: Operand | undefined): Priced {
  if (!given) return { cost: 1 };
  if (ONE_TEXT.has(name) || (name === "string" && typeOf(given.node) === "bytes")) {
    return { cost: passes(given.most), size: given.most };
  }
  return name === "dyn" ? { cost: 1, ...known(given) } : { cost: 1 };
}

const NOTHING = { op: "value" } as unknown as CelNode;

function known({ path, size, entry }: Operand): Known {
  return { ...(path ? { path } : {}), ...(size === undefined ? {} : { size }), ...(entry ? { entry } : {}) };
}

function passes(length: number, times = 1): number {
  return saturated(Math.ceil(length * TRAVERSAL * times));
}

function comparison(name: string, a: Operand | undefined, b: Operand | undefined): number {
  const type = typeOf(a?.node ?? NOTHING);
  if (ORDERED.has(name) && type !== "string" && type !== "bytes" && type !== "dyn") return 1;
  if (/^(net\.|kubernetes\.)/.test(type) && name === "==") return 1;
  return passes(Math.min(a?.most ?? UNBOUNDED, b?.most ?? UNBOUNDED));
}

function isList(operand: Operand | undefined): boolean {
  return operand !== undefined && /^(list|dyn)/.test(typeOf(operand.node));
}

function indexed(list: Operand | undefined): Priced {
  const step = isList(list) ? "@items" : "@values";
  const value = list?.entry?.value;
  return {
    cost: 1,
    ...(list?.path ? { path: [...list.path, step] } : {}),
    ...(value === undefined ? {} : { size: value }),
  };
}

function added(a: Operand | undefined, b: Operand | undefined): Priced {
  const type = typeOf(a?.node ?? NOTHING);
  if (type !== "string" && type !== "bytes" && !type.startsWith("list")) return { cost: 1 };
  const size = saturated((a?.most ?? UNBOUNDED) + (b?.most ?? UNBOUNDED));
  if (!type.startsWith("list")) return { cost: passes(size), size };
  const entry =
    a?.entry && b?.entry ? { isList: true, key: 1, value: Math.max(a.entry.value, b.entry.value) } : undefined;
  return { cost: 1, size, ...(entry ? { entry } : {}) };
}

type MemberCost = (receiver: Operand, args: readonly Operand[], estimator: CostEstimator) => Priced;

const overText: MemberCost = ({ most }) => ({ cost: passes(most), size: most });
const byArgument: MemberCost = (_, [first]) => ({ cost: passes(sizeOf(first)), size: 1 });
const overItems: MemberCost = (receiver, _, estimator) => ({ cost: walked(receiver, estimator) });
const found: MemberCost = ({ most }, [first]) => ({ cost: matching(most, sizeOf(first)), size: most });
const within =
  (own: number): MemberCost =>
  (_, [first]) => {
    const text = typeOf(first?.node ?? NOTHING) === "string" ? passes(sizeOf(first)) : 0;
    return { cost: saturated(own + text), size: 1 };
  };

/** Methods whose price depends on how much they are given; all others cost 1. */
const MEMBERS: ReadonlyMap<string, MemberCost> = new Map<string, MemberCost>([
  ["startsWith", byArgument],
  ["endsWith", byArgument],
  ["contains", ({ most }, [first]) => ({ cost: saturated(passes(most) * passes(sizeOf(first))), size: 1 })],
  ["matches", ({ most }, [first]) => ({ cost: matching(most, sizeOf(first)), size: 1 })],
  ["find", found],
  ["findAll", found],
  ...["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"].map((name) => [name, overItems] as const),
  ...["lowerAscii", "upperAscii", "substring", "trim"].map((name) => [name, overText] as const),
  ["replace", ({ most }, [from, to]) => ({ cost: passes(most, 2), size: replaced(most, from, to) })],
  ["split", ({ most }, [, limit]) => ({ cost: passes(most, 2), size: limitOf(limit) ?? most })],
  ["join", (receiver, [separator], estimator) => joined(receiver, separator, estimator)],
  ["format", ({ most }) => ({ cost: passes(most) })],
  ["quote", ({ most }) => ({ cost: passes(most) })],
  ["isCanonical", (_, [first]) => ({ cost: passes(sizeOf(first), 2), size: 1 })],
  ["validate", (_, [first]) => ({ cost: saturated(Math.ceil(passes(sizeOf(first)) * 128 * PATTERN)) })],
  ["containsIP", within(4)],
  ["containsCIDR", within(7)],
]);

function memberCost({ name, args }: Priceable, receiver: Operand, estimator: CostEstimator): Priced {
  return MEMBERS.get(name)?.(receiver, args, estimator) ?? { cost: 1 };
}

function sizeOf(operand: Operand | undefined): number {
  return operand?.most ?? UNBOUNDED;
}

function limitOf(operand: Operand | undefined): number | undefined {
  return operand?.node.op === "value" ? Number(operand.node.args) : undefined;
}

function matching(text: number, pattern: number): number {
  return saturated(passes(text + 1) * Math.ceil(pattern * PATTERN));
}

/** Each entry is visited once, and texts are compared. */
function walked(list: Operand, estimator: CostEstimator): number {
  const element = /^list<(.*)>$/.exec(typeOf(list.node))?.[1];
  if (element === undefined) return passes(list.most);
  if (element !== "string" && element !== "bytes") return list.most;
  const size = (list.path && estimator.sizeAt([...list.path, "@items"])) ?? UNBOUNDED;
  return saturated(list.most * (1 + passes(size)));
}

function replaced(size: number, from: Operand | undefined, to: Operand | undefined): number {
  const least = from?.node.op === "value" ? from.most : 0;
  const most = to?.most ?? UNBOUNDED;
  if (least === 0) return saturated((size + 1) * most + size);
  return most <= least ? size : saturated(Math.ceil(size / least) * most);
}

function joined(list: Operand, separator: Operand | undefined, estimator: CostEstimator): Priced {
  const element = (list.path && estimator.sizeAt([...list.path, "@items"])) ?? UNBOUNDED;
  const between = separator && list.most > 0 ? separator.most * (list.most - 1) : 0;
  const size = saturated(list.most * element + between);
  return { cost: passes(size), size };
}
