import { TEMPLATE_DEPTH } from "./limits.ts";
import { tokensOf, type Token } from "./tokens.ts";
import type { Body, Command, Node, Operand, Pipeline, Template } from "./tree.ts";

const ends: ReadonlySet<string> = new Set(["end", "else"]);
/** Templates that one text may define. */
const mostDefined = 100;

/** The tree of a template. @throws Error with the reason when it is none */
export function parseTemplate(template: string): Template {
  const parser = new Parser(tokensOf(template));
  const body = parser.body(0);
  if (!parser.isDone()) throw new Error(`unexpected {{${parser.keyword() ?? ""}}}`);
  return { body, defined: parser.defined };
}

class Parser {
  readonly defined = new Map<string, Body>();
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  isDone(): boolean {
    return this.#at >= this.#tokens.length;
  }

  /** The word that the action at hand begins with. */
  keyword(): string | undefined {
    if (this.#peek()?.type !== "open") return undefined;
    const next = this.#tokens[this.#at + 1];
    const first = next?.type === "space" ? this.#tokens[this.#at + 2] : next;
    return first?.type === "word" ? first.text : undefined;
  }

  /** Up to the end of the template, or the "end" or "else" of another depth. */
  body(depth: number): Node[] {
    if (depth > TEMPLATE_DEPTH) throw new Error(`actions are nested more than ${TEMPLATE_DEPTH} deep`);
    const nodes: Node[] = [];
    while (!this.isDone() && !ends.has(this.keyword() ?? "")) {
      if (this.keyword() === "define") this.#define(depth);
      else nodes.push(this.#node(depth));
    }
    return nodes;
  }

  #node(depth: number): Node {
    const token = this.#next();
    if (token.type === "text") return { type: "text", text: token.text };
    this.#at -= 1;
    const keyword = this.keyword();
    this.#open(keyword === undefined || !isKeyword(keyword) ? undefined : keyword);
    switch (keyword) {
      case "if":
      case "with":
      case "range":
        return this.#branch(keyword, depth);
      case "template":
        return this.#reference(depth);
      case "block":
        return this.#block(depth);
      case "break":
      case "continue":
        this.#close();
        return { type: keyword };
      default: {
        const pipe = this.#pipeline(depth);
        this.#close();
        return { type: "action", pipe };
      }
    }
  }

  /** `{{define "name"}}…{{end}}`: nothing is rendered where it is. */
  #define(depth: number): void {
    if (depth > 0) throw new Error("unexpected {{define}} inside of another action");
    this.#open("define");
    const name = this.#name("define");
    this.#close();
    this.#defineAs(name, depth);
  }

  #defineAs(name: string, depth: number): void {
    const body = this.body(depth + 1);
    if (this.keyword() !== "end") throw new Error(`{{define ${JSON.stringify(name)}}} has no {{end}}`);
    this.#open("end");
    this.#close();
    if (this.defined.has(name)) throw new Error(`template ${JSON.stringify(name)} is defined twice`);
    if (this.defined.size >= mostDefined) throw new Error(`a text defines at most ${mostDefined} templates`);
    this.defined.set(name, body);
  }

  /** `{{template "name" pipeline}}`. */
  #reference(depth: number): Node {
    const name = this.#name("template");
    this.#blank();
    const pipe = this.#peek()?.type === "close" ? undefined : this.#pipeline(depth);
    this.#close();
    return { type: "template", name, pipe };
  }

  /** `{{block "name" pipeline}}…{{end}}`: a definition, and its use at once. */
  #block(depth: number): Node {
    const name = this.#name("block");
    const pipe = this.#pipeline(depth);
    this.#close();
    this.#defineAs(name, depth);
    return { type: "template", name, pipe };
  }

  #name(keyword: string): string {
    this.#blank();
    const token = this.#next();
    const name = token.type === "string" ? textOf(token.text) : undefined;
    if (typeof name !== "string") throw new Error(`{{${keyword}}} needs a name in quotes`);
    return name;
  }

  #branch(type: "if" | "with" | "range", depth: number): Node {
    const pipe = this.#pipeline(depth);
    this.#close();
    const body = this.body(depth + 1);
    if (this.isDone()) throw new Error(`{{${type}}} has no {{end}}`);
    const isElse = this.keyword() === "else";
    this.#open(isElse ? "else" : "end");
    if (!isElse) {
      this.#close();
      return { type, pipe, body, otherwise: [] };
    }
    this.#blank();
    const chained = this.#peek();
    if (type !== "range" && chained?.type === "word" && (chained.text === "if" || chained.text === "with")) {
      this.#at += 1;
      return { type, pipe, body, otherwise: [this.#branch(chained.text, depth + 1)] };
    }
    this.#close();
    const otherwise = this.body(depth + 1);
    if (this.keyword() !== "end") throw new Error(`{{${type}}} has no {{end}}`);
    this.#open("end");
    this.#close();
    return { type, pipe, body, otherwise };
  }

  #pipeline(depth: number): Pipeline {
    if (depth > TEMPLATE_DEPTH) throw new Error(`pipelines are nested more than ${TEMPLATE_DEPTH} deep`);
    const { variables, declares } = this.#variables();
    const commands: Command[] = [this.#command(depth)];
    while (this.#sign("|")) commands.push(this.#command(depth));
    return { variables, declares, commands };
  }

  /** `$a :=`, `$a =` or `$a, $b :=` in front of a pipeline. */
  #variables(): { variables: string[]; declares: boolean } {
    const start = this.#at;
    const variables: string[] = [];
    do {
      this.#blank();
      const token = this.#peek();
      if (token?.type !== "variable") break;
      variables.push(token.text);
      this.#at += 1;
    } while (this.#sign(","));
    if (variables.length > 0 && variables.length < 3) {
      if (this.#sign(":=")) return { variables, declares: true };
      if (this.#sign("=")) return { variables, declares: false };
    }
    this.#at = start;
    return { variables: [], declares: false };
  }

  #command(depth: number): Command {
    const operands: Operand[] = [];
    for (;;) {
      this.#blank();
      const token = this.#peek();
      if (!token || token.type === "close" || (token.type === "sign" && token.text !== "(" && token.text !== "."))
        break;
      operands.push(this.#operand(depth));
    }
    const [first, ...rest] = operands;
    if (!first) throw new Error("missing value for command");
    if (rest.length > 0 && first.type === "literal") throw new Error("a literal takes no arguments");
    return [first, ...rest];
  }

  #operand(depth: number): Operand {
    const token = this.#next();
    switch (token.type) {
      case "string":
        return { type: "literal", value: textOf(token.text) };
      case "number":
        return { type: "literal", value: numberOf(token.text) };
      case "variable":
        return { type: "variable", name: token.text, path: this.#path() };
      case "field":
        return { type: "dot", path: [token.text.slice(1), ...this.#path()] };
      case "word":
        return wordOf(token.text);
      default:
        if (token.text === ".") return { type: "dot", path: [] };
        if (token.text !== "(") throw new Error(`unexpected ${token.text}`);
    }
    const pipe = this.#pipeline(depth + 1);
    if (!this.#sign(")")) throw new Error("unclosed left parenthesis");
    return { type: "pipeline", pipe, path: this.#path() };
  }

  #path(): string[] {
    const path: string[] = [];
    for (let token = this.#peek(); token?.type === "field"; token = this.#peek()) {
      path.push(token.text.slice(1));
      this.#at += 1;
    }
    return path;
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  #next(): Token {
    const token = this.#peek();
    if (!token) throw new Error("unexpected end of the template");
    this.#at += 1;
    return token;
  }

  #blank(): void {
    while (this.#peek()?.type === "space") this.#at += 1;
  }

  #sign(text: string): boolean {
    this.#blank();
    const token = this.#peek();
    if (token?.type !== "sign" || token.text !== text) return false;
    this.#at += 1;
    return true;
  }

  #open(keyword: string | undefined): void {
    this.#next();
    if (keyword === undefined) return;
    this.#blank();
    this.#next();
  }

  #close(): void {
    this.#blank();
    const token = this.#next();
    if (token.type !== "close") throw new Error(`unexpected ${JSON.stringify(token.text)} in command`);
  }
}

function isKeyword(word: string): boolean {
  return ["if", "with", "range", "template", "block", "break", "continue"].includes(word);
}

function wordOf(word: string): Operand {
  if (word === "true" || word === "false") return { type: "literal", value: word === "true" };
  return word === "nil" ? { type: "literal", value: null } : { type: "function", name: word };
}

function numberOf(text: string): number | bigint {
  return /^[+-]?(?:0[xX][\da-fA-F]+|\d+)$/.test(text)
    ? BigInt(text.replace(/^[+-]/, "")) * (text.startsWith("-") ? -1n : 1n)
    : Number(text);
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" };

function textOf(token: string): string | bigint {
  const inner = token.slice(1, -1);
  if (token.startsWith("`")) return inner;
  const text = inner.replaceAll(/\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|[0-7]{3}|.)/g, (_, escape: string) => {
    if (/^[xu]./.test(escape)) return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    if (/^[0-7]{3}$/.test(escape)) return String.fromCharCode(Number.parseInt(escape, 8));
    return escapes[escape] ?? escape;
  });
  return token.startsWith("'") ? BigInt(text.codePointAt(0) ?? 0) : text;
}
