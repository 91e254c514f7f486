import { builtins } from "./builtins.ts";
import { Meter, RENDERED_LENGTH, TEMPLATE_DEPTH } from "./limits.ts";
import { parseTemplate } from "./parse.ts";
import { dataFunctions } from "./sprig-data.ts";
import { patternFunctions } from "./sprig-patterns.ts";
import { textFunctions } from "./sprig-text.ts";
import type { Body, Command, Node, Operand, Pipeline } from "./tree.ts";
import { fieldOf, isFields, isList, isTrue, kindOf, show, type Value } from "./values.ts";
import type { TemplateFunction } from "./arguments.ts";

/** What differs from the default, which is that of the templates of a ClusterClass. */
export interface RenderOptions {
  /** A field that does not exist is an error, in place of "<no value>". */
  readonly missingKey?: "error";
  /** Only the functions of text/template, without sprig's. */
  readonly plain?: boolean;
}

/**
 * Renders a template in the language of Go's text/template with sprig's functions that depend on nothing but their
 * arguments. Time and length are bounded (limits.ts); patterns are RE2. Not supported: dates, random values and
 * certificates.
 * @throws Error with the reason
 */
export function renderTemplate(template: string, data: Value, options: RenderOptions = {}): string {
  const { body, defined } = parseTemplate(template);
  const render = new Render(data, { ...options, defined });
  render.body(body, data);
  return render.output.join("");
}

type Jump = "break" | "continue" | undefined;

class Render {
  readonly output: string[] = [];
  readonly #meter = new Meter();
  readonly #functions: Readonly<Record<string, TemplateFunction>>;
  readonly #strict: boolean;
  readonly #defined: ReadonlyMap<string, Body>;
  /** Templates that are being rendered, each inside of the one before. */
  #nested = 0;
  /** Innermost last. */
  #variables: { readonly name: string; value: Value }[];
  #length = 0;

  constructor(
    data: Value,
    { missingKey, plain, defined }: RenderOptions & { readonly defined: ReadonlyMap<string, Body> },
  ) {
    this.#defined = defined;
    this.#variables = [{ name: "$", value: data }];
    this.#strict = missingKey === "error";
    this.#functions = plain ? builtins : { ...textFunctions, ...patternFunctions, ...dataFunctions, ...builtins };
  }

  body(nodes: Body, dot: Value): Jump {
    const depth = this.#variables.length;
    try {
      for (const node of nodes) {
        const jump = this.#node(node, dot);
        if (jump) return jump;
      }
      return undefined;
    } finally {
      this.#variables.length = depth;
    }
  }

  #node(node: Node, dot: Value): Jump {
    this.#meter.spend();
    switch (node.type) {
      case "text":
        this.#write(node.text);
        return undefined;
      case "action": {
        const value = this.#pipeline(node.pipe, dot);
        this.#weigh(value);
        if (node.pipe.variables.length === 0) this.#write(show(value));
        return undefined;
      }
      case "if":
      case "with":
        return this.#choice(node, dot);
      case "range":
        return this.#range(node, dot);
      case "template":
        this.#template(node, dot);
        return undefined;
      default:
        return node.type;
    }
  }

  #choice({ type, pipe, body, otherwise }: Extract<Node, { type: "if" | "with" }>, dot: Value): Jump {
    const depth = this.#variables.length;
    const value = this.#pipeline(pipe, dot);
    const jump = isTrue(value) ? this.body(body, type === "with" ? value : dot) : this.body(otherwise, dot);
    this.#variables.length = depth;
    return jump;
  }

  /** A template sees its dot, and no variable but "$", which is the same. */
  #template({ name, pipe }: Extract<Node, { type: "template" }>, dot: Value): void {
    const body = this.#defined.get(name);
    if (!body) throw new Error(`template ${JSON.stringify(name)} not defined`);
    if (this.#nested >= TEMPLATE_DEPTH) throw new Error(`templates are nested more than ${TEMPLATE_DEPTH} deep`);
    const value = pipe ? this.#pipeline(pipe, dot) : null;
    const outer = this.#variables;
    this.#variables = [{ name: "$", value }];
    this.#nested += 1;
    this.body(body, value);
    this.#nested -= 1;
    this.#variables = outer;
  }

  #range({ pipe, body, otherwise }: Extract<Node, { type: "range" }>, dot: Value): Jump {
    const depth = this.#variables.length;
    const pairs = pairsOf(this.#pipeline({ ...pipe, variables: [] }, dot));
    const [first, second] = pipe.variables;
    for (const [key, value] of pairs) {
      this.#meter.spend();
      if (second !== undefined) this.#assign(pipe, first, key);
      if (first !== undefined) this.#assign(pipe, second ?? first, value);
      const jump = this.body(body, value);
      this.#variables.length = depth;
      if (jump === "break") break;
    }
    return pairs.length === 0 ? this.body(otherwise, dot) : undefined;
  }

  #assign({ declares }: Pipeline, name: string | undefined, value: Value): void {
    if (name === undefined) return;
    if (declares) {
      this.#variables.push({ name, value });
      return;
    }
    this.#variable(name).value = value;
  }

  #variable(name: string): { value: Value } {
    this.#meter.spend();
    const found = this.#variables.findLast((one) => one.name === name);
    if (!found) throw new Error(`undefined variable ${JSON.stringify(name)}`);
    return found;
  }

  #pipeline(pipe: Pipeline, dot: Value): Value {
    let value: Value;
    for (const [at, command] of pipe.commands.entries()) value = this.#command(command, dot, at > 0 ? [value] : []);
    const [name] = pipe.variables;
    if (name !== undefined) this.#assign(pipe, name, value);
    return value;
  }

  #command(command: Command, dot: Value, piped: readonly Value[]): Value {
    this.#meter.spend();
    const [first, ...rest] = command;
    if (first.type === "function") return this.#call(first.name, { rest, piped }, dot);
    if (rest.length + piped.length > 0) throw new Error("can't give argument to non-function");
    return this.#operand(first, dot);
  }

  #call(name: string, { rest, piped }: { rest: readonly Operand[]; piped: readonly Value[] }, dot: Value): Value {
    if (name === "and" || name === "or")
      return this.#choose(name, [
        ...rest.map((one) => () => this.#operand(one, dot)),
        ...piped.map((one) => () => one),
      ]);
    const found = Object.hasOwn(this.#functions, name) ? this.#functions[name] : undefined;
    if (!found) throw new Error(`function ${JSON.stringify(name)} not defined`);
    const given = [...rest.map((one) => this.#operand(one, dot)), ...piped];
    for (const value of given) this.#weigh(value);
    const value = found({ name, meter: this.#meter, given });
    this.#weigh(value);
    return value;
  }

  #choose(name: "and" | "or", operands: readonly (() => Value)[]): Value {
    if (operands.length === 0) throw new Error(`wrong number of args for ${name}: want at least 1 got 0`);
    let value: Value;
    for (const operand of operands) {
      value = operand();
      if (isTrue(value) === (name === "or")) break;
    }
    return value;
  }

  #operand(operand: Operand, dot: Value): Value {
    switch (operand.type) {
      case "literal":
        return operand.value;
      case "dot":
        return this.#path(dot, operand.path);
      case "variable":
        return this.#path(this.#variable(operand.name).value, operand.path);
      case "function":
        return this.#call(operand.name, { rest: [], piped: [] }, dot);
      default:
        return this.#path(this.#pipeline(operand.pipe, dot), operand.path);
    }
  }

  #path(from: Value, path: readonly string[]): Value {
    return path.reduce<Value>((value, name) => {
      this.#meter.spend();
      if (value === null || value === undefined) throw new Error(`nil pointer evaluating interface {}.${name}`);
      if (!isFields(value)) throw new Error(`can't evaluate field ${name} in type ${kindOf(value)}`);
      if (this.#strict && !Object.hasOwn(value, name))
        throw new Error(`map has no entry for key ${JSON.stringify(name)}`);
      return fieldOf(value, name);
    }, from);
  }

  /** Counts all that a value holds: a list may hold another many times, and showing it takes time for each. */
  #weigh(value: Value): void {
    if (typeof value === "string") this.#meter.text(value.length);
    else if (isList(value)) for (const one of value) this.#weighInner(one);
    else if (isFields(value)) for (const one of Object.values(value)) this.#weighInner(one);
  }

  #weighInner(value: Value): void {
    this.#meter.spend(1 / 16);
    this.#weigh(value);
  }

  #write(text: string): void {
    this.#length += text.length;
    if (this.#length > RENDERED_LENGTH) throw new Error(`the template renders more than ${RENDERED_LENGTH} characters`);
    this.output.push(text);
  }
}

function pairsOf(value: Value): readonly (readonly [Value, Value])[] {
  if (value === null || value === undefined) return [];
  if (isList(value)) return value.map((item, at) => [BigInt(at), item]);
  if (isFields(value))
    return Object.keys(value)
      .sort()
      .map((key) => [key, value[key]]);
  if (typeof value === "bigint" && value <= 10_000n)
    return Array.from({ length: Math.max(0, Number(value)) }, (_, at) => [BigInt(at), BigInt(at)]);
  throw new Error(`range can't iterate over ${show(value)}`);
}
