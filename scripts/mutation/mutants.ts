import { parseSync, visitorKeys } from "oxc-parser";

/** One change of a source file. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly original: string;
  readonly replacement: string;
  /** A statement is replaced as a whole, an expression in place. */
  readonly isStatement: boolean;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

interface Place {
  readonly parent: Node | undefined;
  /** The field of the parent that the node is in. */
  readonly field: string;
}

const SWAPPED: Readonly<Record<string, readonly string[]>> = {
  "===": ["!=="],
  "!==": ["==="],
  "==": ["!="],
  "!=": ["=="],
  "<": ["<="],
  "<=": ["<"],
  ">": [">="],
  ">=": [">"],
  "+": ["-"],
  "-": ["+"],
  "&&": ["||"],
  "||": ["&&"],
};

/** Type positions and what is not evaluated as an expression. */
const SKIPPED = /^(TS(?!As|Satisfies|NonNull)|Import|ExportAll)/;

/** All mutants of a TypeScript source, in the order of the text. */
export function mutantsOf(file: string, source: string): readonly Mutant[] {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message ?? "it cannot be parsed"}`);
  const found: Mutant[] = [];
  const lines = lineStarts(source);
  const add = (node: Node, replacement: string, isStatement = false): void => {
    const { start, end } = node;
    const original = source.slice(start, end);
    found.push({ file, line: lineOf(lines, start), start, end, original, replacement, isStatement });
  };
  const text = (node: unknown): string => source.slice((node as Node).start, (node as Node).end);
  walk(program as unknown as Node, { parent: undefined, field: "" }, (node, place) => {
    for (const replacement of replacementsOf(node, place, text)) add(node, replacement);
    if (isEarlyReturn(node, place)) add(node, ";", true);
  });
  return found.sort((a, b) => a.start - b.start || b.end - a.end);
}

function walk(node: Node, place: Place, visit: (node: Node, place: Place) => void): void {
  if (SKIPPED.test(node.type)) return;
  visit(node, place);
  for (const field of visitorKeys[node.type] ?? []) {
    const child = node[field];
    for (const one of Array.isArray(child) ? (child as unknown[]) : [child]) {
      if (typeof one === "object" && one !== null && "type" in one) walk(one as Node, { parent: node, field }, visit);
    }
  }
}

type Text = (node: unknown) => string;

function replacementsOf(node: Node, place: Place, text: Text): readonly string[] {
  const conditions = isCondition(node, place) ? conditionsOf(node, place) : [];
  return [...conditions, ...operatorsOf(node, text), ...literalsOf(node, place)];
}

function operatorsOf(node: Node, text: Text): readonly string[] {
  const { type, operator, left, right, argument } = node;
  if (type === "UnaryExpression" && operator === "!") return [text(argument)];
  if (type !== "BinaryExpression" && type !== "LogicalExpression") return [];
  if (operator === "+" && (isText(left) || isText(right))) return [];
  return (SWAPPED[operator as string] ?? []).map((other) => `(${text(left)}) ${other} (${text(right)})`);
}

function isText(node: unknown): boolean {
  const { type, value } = node as Node;
  return type === "TemplateLiteral" || (type === "Literal" && typeof value === "string");
}

/** What decides whether a branch is entered. */
function isCondition({ type }: Node, { parent, field }: Place): boolean {
  if (field !== "test" || type === "Literal") return false;
  return ["IfStatement", "ConditionalExpression", "WhileStatement", "ForStatement"].includes(parent?.type ?? "");
}

/** Each branch is removed in turn; a loop is not made endless. */
function conditionsOf(_node: Node, { parent }: Place): readonly string[] {
  return parent?.type === "IfStatement" || parent?.type === "ConditionalExpression" ? ["true", "false"] : ["false"];
}

function literalsOf(node: Node, { parent, field }: Place): readonly string[] {
  if (node.type === "ArrayExpression") return (node["elements"] as unknown[]).length > 0 ? ["[]"] : [];
  if (node.type !== "Literal" || isName(parent, field)) return [];
  if (typeof node["value"] === "boolean") return [String(!node["value"])];
  return typeof node["value"] === "string" && node["value"] !== "" ? ['""'] : [];
}

/** Keys of objects, directives and the sources of modules. */
function isName(parent: Node | undefined, field: string): boolean {
  if (!parent) return true;
  if (parent.type === "ExpressionStatement" || /^(Import|Export)/.test(parent.type)) return true;
  return field === "key" && parent["computed"] !== true;
}

/** A return in a branch of more than itself: where the branch is nothing else, its condition is changed instead. */
function isEarlyReturn({ type }: Node, { parent, field }: Place): boolean {
  if (type !== "ReturnStatement" || !parent) return false;
  if (parent.type === "SwitchCase") return true;
  return parent.type === "BlockStatement" && field === "body" && (parent["body"] as unknown[]).length > 1;
}

function lineStarts(source: string): readonly number[] {
  return [0, ...[...source.matchAll(/\n/g)].map((m) => m.index + 1)];
}

function lineOf(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}

/**
 * The source with all its mutants: `__mutant(n)` answers whether the nth is active, and notes that it was reached. Line
 * numbers remain. `first` is the number of the first mutant.
 */
export function instrumented(source: string, mutants: readonly Mutant[], first: number): string {
  const numbered = mutants.map((mutant, i) => ({ mutant, number: first + i }));
  const render = (start: number, end: number, inside: typeof numbered): string => {
    let out = "";
    let here = start;
    let rest = inside;
    while (rest.length > 0) {
      const [outer] = rest;
      if (!outer) break;
      const { start: from, end: to, isStatement } = outer.mutant;
      const same = rest.filter(({ mutant: m }) => m.start === from && m.end === to);
      const within = rest.filter(
        ({ mutant: m }) => m.start >= from && m.end <= to && !(m.start === from && m.end === to),
      );
      const inner = render(from, to, within);
      const chosen = same.reduceRight(
        (other, { mutant, number }) =>
          isStatement
            ? `if (!__mutant(${number})) ${other}`
            : `(__mutant(${number}) ? ${mutant.replacement} : ${other})`,
        isStatement ? inner : `(${inner})`,
      );
      out += source.slice(here, from) + chosen;
      here = to;
      rest = rest.filter(({ mutant: m }) => m.start >= to);
    }
    return out + source.slice(here, end);
  };
  return render(0, source.length, numbered);
}
