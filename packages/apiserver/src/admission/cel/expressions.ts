import { CausewayError, messageOf } from "@causeway/foundation";
import { createBaseEnvironment } from "../../schema/cel/environment.ts";
import type { CelEnvironment } from "../../schema/cel/cel-environment.ts";
import { compileProblem } from "../../schema/cel/problems.ts";
import { compileProgram, type Meter } from "../../schema/cel/program.ts";
import { type Authorizer, registerAuthorizer } from "./authorizer.ts";

const SPENT = "validation failed due to running out of cost budget, no further validation rules will be run";

/** What an expression sees. */
export interface Activation {
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly request: unknown;
  readonly namespaceObject: unknown;
  readonly params?: unknown;
  readonly variables?: unknown;
  readonly authorizer: Authorizer;
  /** What evaluations for this attempt may still cost together. */
  readonly meter: Meter;
}

/** A CEL expression of admission, compiled within the cluster's limits. */
export interface Expression {
  readonly text: string;
  /** What is wrong with it; it fails whenever it runs. */
  readonly fault: string | undefined;
  /** Throws an Error that says which expression failed and why. */
  evaluate(activation: Activation): unknown;
}

/** What an expression may be about, next to the request. */
export interface Scope {
  readonly params?: boolean;
  /** The expressions of the policy's variables, by their names. */
  readonly variables?: ReadonlyMap<string, string>;
  /** False where it may not ask what users may do. */
  readonly authorizer?: boolean;
  /** CEL types that it may be of, or "any". */
  readonly types: readonly string[];
}

/** The CEL of admission: one environment per set of variables, made when the first expression asks for it. */
export class Expressions {
  readonly #environments = new Map<string, CelEnvironment>();

  compile(text: string, scope: Scope): Expression {
    const environment = this.#environment(scope);
    const problem = compileProblem(environment, text);
    const fault =
      problem === undefined
        ? typeFault(this.#typeOf(environment, text, scope), scope.types)
        : `compilation failed: ${problem}`;
    if (fault !== undefined) {
      return {
        text,
        fault,
        evaluate: () => {
          throw failure(`compilation error: ${fault}`);
        },
      };
    }
    const program = compileProgram(environment, text);
    return {
      text,
      fault: undefined,
      evaluate(activation) {
        const { meter, ...variables } = activation;
        if (meter.left < 0) throw failure(SPENT);
        try {
          return program(variables, meter);
        } catch (error) {
          const [summary = ""] = messageOf(error).split("\n");
          throw failure(`expression '${text}' resulted in error: ${asGo(summary)}`, error);
        }
      },
    };
  }

  /** Where an expression is a variable, its type is that of the variable's own expression. */
  #typeOf(
    environment: CelEnvironment,
    text: string,
    { variables = new Map<string, string>() }: Partial<Scope>,
  ): string {
    const { type = "dyn" } = environment.check(text);
    const [, name = ""] = /^\s*variables\s*\.\s*(\w+)\s*$/.exec(text) ?? [];
    const itself = variables.get(name);
    if (type !== "dyn" || itself === undefined) return type;
    const others = new Map([...variables].filter(([other]) => other !== name));
    return this.#typeOf(environment, itself, { variables: others });
  }

  #environment({ params, variables, authorizer }: Scope): CelEnvironment {
    const hasVariables = variables !== undefined && variables.size > 0;
    const key = `${params === true} ${hasVariables} ${authorizer !== false}`;
    const known = this.#environments.get(key);
    if (known) return known;
    const made = createBaseEnvironment();
    for (const name of ["object", "oldObject", "request", "namespaceObject"]) made.registerVariable(name, "dyn");
    if (params === true) made.registerVariable("params", "dyn");
    if (hasVariables) made.registerVariable("variables", "dyn");
    if (authorizer !== false) registerAuthorizer(made);
    this.#environments.set(key, made);
    return made;
  }
}

function failure(message: string, cause?: unknown): CausewayError {
  const hint = "Correct the expression; test an optional field with has(object.field).";
  return new CausewayError("ADMISSION_EXPRESSION_FAILED", message, { hint, ...(cause === undefined ? {} : { cause }) });
}

function typeFault(type: string, wanted: readonly string[]): string | undefined {
  if (wanted.includes("any") || wanted.includes(type)) return undefined;
  const names = wanted.map((name) => (name === "null" ? "null_type" : name));
  const list = names.length === 1 ? (names[0] ?? "") : `one of [${names.join(" ")}]`;
  return `must evaluate to ${list} but got ${type === "null" ? "null_type" : type}`;
}

/** In the words of cel-go, which clients know. */
function asGo(summary: string): string {
  return summary.replace(/^No such key: /, "no such key: ");
}
