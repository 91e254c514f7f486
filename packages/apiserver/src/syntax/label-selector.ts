import { text, type Json } from "../json/json.ts";
import { badRequest } from "../errors/status.ts";
import { labelKeyFaults, labelValueFaults } from "./names.ts";

/*
 * Label selectors as query parameters carry them. The grammar and the words of its refusals are kube-apiserver's.
 * Source: kubernetes.io "Labels and Selectors", Set-based requirement.
 */

/** Whether labels are those that a selector selects. */
export type LabelTest = (labels: Json) => boolean;

interface Token {
  readonly kind: "word" | "symbol" | "end";
  readonly text: string;
}

const SYMBOLS = ["!=", "==", "=", "!", "(", ")", ",", ">", "<"];
const OPERATORS = "in, notin, =, ==, !=, gt, lt";
const END: Token = { kind: "end", text: "" };

function tokensOf(selector: string): Token[] {
  const tokens: Token[] = [];
  for (const [found] of selector.matchAll(/[=!(),<>]+|[^=!(),<>\s]+/g)) {
    if (!/[=!(),<>]/.test(found)) {
      tokens.push({ kind: "word", text: found });
      continue;
    }
    for (let rest = found; rest !== "";) {
      const symbol = SYMBOLS.find((s) => rest.startsWith(s)) ?? rest.charAt(0);
      tokens.push({ kind: "symbol", text: symbol });
      rest = rest.slice(symbol.length);
    }
  }
  return tokens;
}

class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get next(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  take(): Token {
    const token = this.next;
    this.#at += 1;
    return token;
  }
}

const isSymbol = ({ kind, text: t }: Token, ...symbols: readonly string[]): boolean =>
  kind === "symbol" && symbols.includes(t);

/** Reads a selector. Throws 400. */
export function labelTests(selector: string): LabelTest[] {
  const reader = new Reader(tokensOf(selector));
  const tests: LabelTest[] = [];
  while (reader.next.kind !== "end") {
    const { kind, text: first } = reader.next;
    if (kind !== "word" && first !== "!") {
      throw badRequest(`found '${first}', expected: !, identifier, or 'end of string'`);
    }
    tests.push(requirement(reader));
    const after = reader.take();
    if (after.kind === "end") break;
    if (!isSymbol(after, ",")) throw badRequest(`found '${after.text}', expected: ',' or 'end of string'`);
    const begin = reader.next;
    if (begin.kind !== "word" && begin.text !== "!") {
      throw badRequest(`found '${begin.text}', expected: identifier after ','`);
    }
  }
  return tests;
}

function unreadable(why: string): Error {
  return badRequest(`unable to parse requirement: ${why}`);
}

function requirement(reader: Reader): LabelTest {
  const isAbsent = isSymbol(reader.next, "!");
  if (isAbsent) reader.take();
  const { kind, text: key } = reader.take();
  if (kind !== "word") throw unreadable(`found '${key}', expected: identifier`);
  const faults = labelKeyFaults(key);
  if (faults.length > 0) throw unreadable(`<nil>: Invalid value: ${JSON.stringify(key)}: ${faults.join("; ")}`);
  if (isAbsent) return (labels) => !(key in labels);
  const { next } = reader;
  if (next.kind === "end" || isSymbol(next, ",")) return (labels) => key in labels;
  return comparison(reader, key);
}

function comparison(reader: Reader, key: string): LabelTest {
  const { text: operator } = reader.take();
  switch (operator) {
    case "in":
    case "notin": {
      const values = checked(key, valuesOf(reader));
      if (operator === "in") return (labels) => key in labels && values.includes(text(labels[key]));
      return (labels) => !(key in labels && values.includes(text(labels[key])));
    }
    case "=":
    case "==":
    case "!=": {
      const [value] = checked(key, [valueOf(reader)]);
      return operator === "!=" ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
    }
    case ">":
    case "<":
      return bound(reader, { key, operator });
    default:
      throw unreadable(`found '${operator}', expected: ${OPERATORS}`);
  }
}

function bound(reader: Reader, { key, operator }: { key: string; operator: ">" | "<" }): LabelTest {
  const given = valueOf(reader);
  if (!/^[+-]?\d+$/.test(given)) {
    const why = "for 'Gt', 'Lt' operators, the value must be an integer";
    throw unreadable(`values[0]: Invalid value: ${JSON.stringify(given)}: ${why}`);
  }
  checked(key, [given]);
  const limit = BigInt(given);
  return (labels) => {
    const value = text(labels[key]);
    if (!/^[+-]?\d+$/.test(value)) return false;
    return operator === ">" ? BigInt(value) > limit : BigInt(value) < limit;
  };
}

function valueOf(reader: Reader): string {
  const { next } = reader;
  if (next.kind === "end" || isSymbol(next, ",")) return "";
  const { kind, text: value } = reader.take();
  if (kind !== "word") throw unreadable(`found '${value}', expected: identifier`);
  return value;
}

/** "(a, b)"; nothing between commas is the empty value. */
function valuesOf(reader: Reader): string[] {
  const open = reader.take();
  if (!isSymbol(open, "(")) throw unreadable(`found '${open.text}' expected: '('`);
  const first = reader.next;
  if (isSymbol(first, ")")) {
    reader.take();
    return [""];
  }
  if (first.kind !== "word" && !isSymbol(first, ",")) {
    throw unreadable(`found '${first.text}', expected: ',', ')' or identifier`);
  }
  const values: string[] = [];
  for (let expectsValue = true; ;) {
    const token = reader.take();
    if (isSymbol(token, ",", ")")) {
      if (expectsValue) values.push("");
      if (token.text === ")") return values;
      expectsValue = true;
    } else if (token.kind === "word" && expectsValue) {
      values.push(token.text);
      expectsValue = false;
    } else {
      const wanted = expectsValue ? "',', or identifier" : "',' or ')'";
      throw unreadable(`found '${token.text}', expected: ${wanted}`);
    }
  }
}

function checked(key: string, values: readonly string[]): readonly string[] {
  for (const [i, value] of [...values].sort().entries()) {
    const faults = labelValueFaults(value);
    if (faults.length === 0) continue;
    throw unreadable(`values[${i}][${key}]: Invalid value: ${JSON.stringify(value)}: ${faults.join("; ")}`);
  }
  return values;
}
