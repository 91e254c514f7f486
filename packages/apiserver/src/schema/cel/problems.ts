import { messageOf } from "@causeway/foundation";
import { callOf, childrenOf, type CelNode, isTooDeep, typeOf } from "./ast.ts";
import type { CelEnvironment } from "./cel-environment.ts";
import { checkCel, parseCel } from "./has.ts";

interface Complaint {
  readonly code: string;
  readonly summary: string;
  readonly start: number;
  readonly node: CelNode | undefined;
}

/** What is wrong with an expression and where, as cel-go prints it; undefined when it compiles. */
export function compileProblem(environment: CelEnvironment, text: string): string | undefined {
  const parsed = parsedText(environment, text);
  if (parsed && isTooDeep(parsed)) return "ERROR: <input>:-1:0: max recursion depth exceeded";
  const result = checkCel(environment, text);
  if (result.valid) return undefined;
  const complaint = complaintOf(result.error);
  const { what, at } = inGoWords(environment, complaint, text);
  return printed(text, what, at);
}

/** undefined when the text is no expression, which the check says better. */
function parsedText(environment: CelEnvironment, text: string): CelNode | undefined {
  try {
    return parseCel(environment, text).ast;
  } catch {
    return undefined;
  }
}

/** A complaint about one place of an expression, as cel-go prints it. `at` counts UTF-16 units. */
export function printed(text: string, what: string, at: number): string {
  const before = text.slice(0, at).split("\n");
  const column = Array.from(before.at(-1) ?? "").length;
  const line = text.split("\n")[before.length - 1] ?? "";
  return `ERROR: <input>:${before.length}:${column + 1}: ${what}\n | ${line}\n | ${".".repeat(column)}^`;
}

function complaintOf(error: unknown): Complaint {
  const { code, summary, range, node } = (error ?? {}) as {
    code?: string;
    summary?: string;
    range?: { start?: number };
    node?: CelNode;
  };
  return { code: code ?? "", summary: summary ?? messageOf(error), start: range?.start ?? 0, node };
}

interface GoMessage {
  readonly what: string;
  readonly at: number;
}

function inGoWords(environment: CelEnvironment, { code, summary, start, node }: Complaint, text: string): GoMessage {
  const field = /^No such key: (.*)$/.exec(summary)?.[1];
  if (field !== undefined) return { what: `undefined field '${field}'`, at: lastBefore(text, ".", start) };
  const selected = node && selection(node, summary, text);
  if (selected) return selected;
  const range = /^Expression of type '(.*)' cannot be range of a comprehension/.exec(summary)?.[1];
  if (range !== undefined) {
    const what = `expression of type '${goType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
    return { what, at: start };
  }
  const variable = /^Unknown variable: (.*)$/.exec(summary)?.[1];
  if (variable !== undefined) return { what: undeclared(variable), at: start };
  if (node && (code === "no_such_overload" || code === "no_matching_overload"))
    return overload(environment, node, text);
  if (node && code === "invalid_condition_type") return { what: mismatch("bool", typeOf(node)), at: start };
  const syntax = code === "parse_error" || code.startsWith("unexpected") || code.startsWith("expected");
  return { what: syntax ? `Syntax error: ${syntaxWords(summary)}` : summary, at: start };
}

/** A field of what has no fields. */
function selection(node: CelNode, summary: string, text: string): GoMessage | undefined {
  const isIndexed = /^(Cannot index type|List index must be)/.test(summary);
  if (!isIndexed || node.op !== ".") return undefined;
  const [object] = childrenOf(node);
  if (!object) return undefined;
  return {
    what: `type '${goType(typeOf(object))}' does not support field selection`,
    at: text.indexOf(".", object.end),
  };
}

function syntaxWords(summary: string): string {
  const token = /^Unexpected token: (.*)$/.exec(summary)?.[1];
  if (token === undefined) return summary;
  return `mismatched input '${token === "EOF" ? "<EOF>" : token}'`;
}

function undeclared(name: string): string {
  return `undeclared reference to '${name}' (in container '')`;
}

function mismatch(expected: string, found: string): string {
  return `expected type '${goType(expected)}' but found '${goType(found)}'`;
}

const OPERATORS: Readonly<Record<string, string>> = {
  "==": "_==_",
  "!=": "_!=_",
  "+": "_+_",
  "-": "_-_",
  "*": "_*_",
  "/": "_/_",
  "%": "_%_",
  "<": "_<_",
  "<=": "_<=_",
  ">": "_>_",
  ">=": "_>=_",
  in: "@in",
  "!_": "!_",
  "-_": "-_",
  "[]": "_[_]",
  "||": "_||_",
  "&&": "_&&_",
  "?:": "_?_:_",
};

function overload(environment: CelEnvironment, node: CelNode, text: string): GoMessage {
  const call = callOf(node);
  const types = (nodes: readonly CelNode[]): string => nodes.map((n) => goType(typeOf(n))).join(", ");
  const none = (name: string, applied: string): string =>
    `found no matching overload for '${name}' applied to '${applied}'`;
  if (!call) {
    const name = OPERATORS[node.op] ?? node.op;
    return { what: none(name, `(${types(childrenOf(node))})`), at: operatorAt(node, text) };
  }
  const open = openAt(node, text);
  const isKnown = environment.getDefinitions().functions.some((f) => f.name === call.name);
  if (!isKnown) return { what: undeclared(call.name), at: open };
  const target = call.receiver ? `${goType(typeOf(call.receiver))}.` : "";
  return { what: none(call.name, `${target}(${types(call.args)})`), at: open };
}

/** Where the operator is between its operands. */
function operatorAt(node: CelNode, text: string): number {
  const [left, right] = childrenOf(node);
  if (!left || !right) return node.start;
  const at = text.indexOf(node.op === "[]" ? "[" : node.op, left.end);
  return at >= 0 && at < right.start ? at : node.start;
}

function openAt(node: CelNode, text: string): number {
  const call = callOf(node);
  const from = call?.receiver ? call.receiver.end : node.start;
  const at = text.indexOf("(", from);
  return at < 0 ? node.start : at;
}

function lastBefore(text: string, mark: string, start: number): number {
  const at = text.lastIndexOf(mark, start);
  return at < 0 ? start : at;
}

/** A type as cel-go names it. */
export function goType(type: string): string {
  const list = /^list<(.*)>$/.exec(type)?.[1];
  if (list !== undefined) return `list(${goType(list)})`;
  const map = /^map<([^,]*), (.*)>$/.exec(type);
  if (map) return `map(${goType(map[1] ?? "")}, ${goType(map[2] ?? "")})`;
  const time = /^google\.protobuf\.(Timestamp|Duration)$/.exec(type)?.[1];
  if (time !== undefined) return time.toLowerCase();
  const optional = /^optional<(.*)>$/.exec(type)?.[1];
  if (optional !== undefined) return `optional_type(${goType(optional)})`;
  if (type === "list") return "list(dyn)";
  return type === "map" ? "map(dyn, dyn)" : type;
}
