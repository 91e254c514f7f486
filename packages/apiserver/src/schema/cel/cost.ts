import { callOf, type CelCall, type CelNode, isMacro, typeOf } from "./ast.ts";
import type { Declared } from "./declared.ts";
import { type Known, type Priced, type CostEstimator, saturated, type Scope, UNBOUNDED } from "./sizes.ts";
import { functionCost } from "./function-costs.ts";

/**
 * The most that an expression can cost, as kube-apiserver estimates it before it lets a rule be defined: cel-go's
 * estimate, with Kubernetes' prices for its own functions, over the sizes that the schema allows.
 */
export function estimateCost(root: CelNode, self: Declared): number {
  return new Estimator(self).price(root, new Map()).cost;
}

class Estimator implements CostEstimator {
  readonly #self: Declared;

  constructor(self: Declared) {
    this.#self = self;
  }

  price(node: CelNode, scope: Scope): Priced {
    switch (node.op) {
      case "value":
        return { cost: 0, size: sizeOfValue(node.args) };
      case "id":
        return this.#identifier(node, scope);
      case ".":
        return this.#select(node, scope);
      case "list":
        return this.#list(node.args, scope);
      case "map":
        return this.#map(node.args, scope);
      case "?:":
        return this.#conditional(node.args, scope);
      case "||":
      case "&&":
        return { cost: sum(node.args.map((n) => this.price(n, scope).cost)), size: 1 };
      default:
        return this.#call(node, scope);
    }
  }

  /** The most that a value may hold: what is known, what the schema says of its place, what its type says. */
  sizeOf(node: CelNode, known: Known): number {
    return known.size ?? this.sizeAt(known.path) ?? (isScalar(typeOf(node)) ? 1 : UNBOUNDED);
  }

  sizeAt(path: readonly string[] | undefined): number | undefined {
    if (path === undefined) return undefined;
    return this.#at(path)?.most;
  }

  #at(path: readonly string[]): Declared | undefined {
    let here: Declared | undefined = this.#self;
    for (const step of path.slice(1)) {
      if (step === "@items" || step === "@values") here = here?.element;
      // Kubernetes' estimate has no length for the keys of a map.
      else if (step === "@keys") here = here?.element && { type: "string", minBytes: 2, most: 0 };
      else here = here?.fields?.get(step);
    }
    return here;
  }

  #identifier(node: CelNode & { op: "id" }, scope: Scope): Priced {
    const known = scope.get(node.args);
    return known ? { cost: 1, ...known } : { cost: 1, path: [node.args] };
  }

  #select(node: CelNode & { op: "." }, scope: Scope): Priced {
    const [operand, name] = node.args;
    const { cost, path } = this.price(operand, scope);
    const own = /^(int|uint|double|bool|string|bytes|null|dyn|list.*|type|optional.*)$/.test(typeOf(operand)) ? 0 : 1;
    return { cost: cost + own, ...(path ? { path: [...path, name] } : {}) };
  }

  #list(items: readonly CelNode[], scope: Scope): Priced {
    const priced = items.map((n) => this.price(n, scope));
    const sizes = items.map((n, i) => this.sizeOf(n, priced[i] ?? {}));
    const entry = { isList: true, key: 1, value: Math.max(0, ...sizes) };
    return { cost: 10 + sum(priced.map((p) => p.cost)), size: items.length, entry };
  }

  #map(entries: readonly (readonly [CelNode, CelNode])[], scope: Scope): Priced {
    const priced = entries.map(([k, v]) => [this.price(k, scope), this.price(v, scope)] as const);
    const most = (at: 0 | 1): number =>
      Math.max(0, ...entries.map((e, i) => this.sizeOf(e[at], priced[i]?.[at] ?? {})));
    const entry = { isList: false, key: most(0), value: most(1) };
    return { cost: 30 + sum(priced.flat().map((p) => p.cost)), size: entries.length, entry };
  }

  #conditional([test, yes, no]: readonly [CelNode, CelNode, CelNode], scope: Scope): Priced {
    const [a, b] = [this.price(yes, scope), this.price(no, scope)];
    const entry =
      a.entry && b.entry
        ? { ...a.entry, key: most(a.entry.key, b.entry.key), value: most(a.entry.value, b.entry.value) }
        : undefined;
    return {
      cost: saturated(this.price(test, scope).cost + Math.max(a.cost, b.cost)),
      size: Math.max(this.sizeOf(yes, a), this.sizeOf(no, b)),
      ...(entry ? { entry } : {}),
    };
  }

  #call(node: CelNode, scope: Scope): Priced {
    const call = callOf(node);
    if (call?.name === "has" && !call.receiver) return this.#presence(call, scope);
    if (call && isMacro(call)) return this.#comprehension(call, scope);
    return functionCost(this, node, scope);
  }

  /** The check whether a field exists costs nothing but the way to it. */
  #presence({ args: [field] }: CelCall, scope: Scope): Priced {
    const operand = field?.op === "." || field?.op === ".?" ? field.args[0] : undefined;
    return { cost: operand ? this.price(operand, scope).cost : 0, size: 1 };
  }

  #comprehension(call: CelCall, scope: Scope): Priced {
    const range = call.receiver;
    if (!range) return { cost: UNBOUNDED };
    const priced = this.price(range, scope);
    const isList = priced.entry?.isList ?? typeOf(range).startsWith("list");
    const two = hasTwoVariables(call);
    const inner = new Map(scope);
    const below = (step: string, size: number | undefined): Known => ({
      ...(priced.path ? { path: [...priced.path, step] } : {}),
      ...(size === undefined ? {} : { size }),
    });
    const keys = below(isList ? "@indices" : "@keys", priced.entry?.key);
    const values = below(isList ? "@items" : "@values", priced.entry?.value);
    const [first, second] = call.args;
    if (first?.op === "id") inner.set(first.args, two || !isList ? keys : values);
    if (two && second?.op === "id") inner.set(second.args, values);
    const count = this.sizeOf(range, priced);
    const step = this.#step(call.name, call.args.slice(two ? 2 : 1), inner);
    return {
      cost: saturated(priced.cost + step.before + count * step.each + step.after),
      size: step.makes ? count : 1,
      ...(step.entry ? { entry: step.entry } : {}),
    };
  }

  /** What the loop that a macro represents costs before, in each round, and after. */
  #step(name: string, bodies: readonly CelNode[], scope: Scope): Step {
    const priced = bodies.map((n) => this.price(n, scope));
    const [body = 0, transform = 0] = priced.map((p) => p.cost);
    const last = bodies.at(-1);
    const size = last ? this.sizeOf(last, priced.at(-1) ?? {}) : 0;
    const list = { makes: true, entry: { isList: true, key: 1, value: size } };
    const map = { makes: true, entry: { isList: false, key: UNBOUNDED, value: size } };
    const filtered = bodies.length > 1;
    switch (name) {
      case "all":
        return { before: 0, each: 3 + body, after: 1 };
      case "exists":
        return { before: 0, each: 4 + body, after: 1 };
      case "exists_one":
      case "existsOne":
        return { before: 0, each: body + 2, after: 2 };
      case "filter":
        return { before: 10, each: body + 13, after: 1, makes: true };
      case "transformMap":
      case "transformMapEntry":
        return { before: 30, each: filtered ? body + transform + 3 : body + 3, after: 1, ...map };
      default:
        return { before: 10, each: filtered ? body + 12 + transform : 12 + body, after: 1, ...list };
    }
  }
}

interface Step {
  readonly before: number;
  readonly each: number;
  readonly after: number;
  /** It makes a list or map of as many entries. */
  readonly makes?: boolean;
  readonly entry?: NonNullable<Known["entry"]>;
}

function hasTwoVariables({ name, args }: CelCall): boolean {
  if (name.startsWith("transform")) return true;
  return args.length === 3 && name !== "map";
}

function sizeOfValue(value: unknown): number {
  if (typeof value === "string") return Array.from(value).length;
  return value instanceof Uint8Array ? value.length : 1;
}

function isScalar(type: string): boolean {
  return /^(int|uint|double|bool|null|google\.protobuf\.(Timestamp|Duration))$/.test(type);
}

function sum(costs: readonly number[]): number {
  return saturated(costs.reduce((total, cost) => total + cost, 0));
}

function most(a: number, b: number): number {
  return Math.max(a, b);
}
