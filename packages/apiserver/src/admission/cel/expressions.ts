import { CausewayError, messageOf } from "@causeway/foundation";
import { type CelEnvironment, createBaseEnvironment } from "../../schema/cel/environment.ts";
import { type Authorizer, registerAuthorizer } from "./authorizer.ts";

/** What an expression sees. */
export interface Activation {
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly request: unknown;
  readonly namespaceObject: unknown;
  readonly params?: unknown;
  readonly variables?: unknown;
  readonly authorizer: Authorizer;
}

export interface Expression {
  readonly text: string;
  /** What is wrong with it; it fails whenever it runs. */
  readonly fault: string | undefined;
  /** Throws an Error that says which expression failed and why. */
  evaluate(activation: Activation): unknown;
}

/** What an expression may be about, beside the request. */
export interface Scope {
  readonly params?: boolean;
  readonly variables?: boolean;
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
    const checked = environment.check(text);
    const fault = checked.valid
      ? typeFault(checked.type ?? "dyn", scope.types)
      : `compilation failed: ${located(text, checked.error)}`;
    if (fault !== undefined) {
      return {
        text,
        fault,
        evaluate: () => {
          throw failure(`compilation error: ${fault}`);
        },
      };
    }
    const program = environment.parse(text);
    return {
      text,
      fault: undefined,
      evaluate(activation) {
        try {
          return program(activation) as unknown;
        } catch (error) {
          const [summary = ""] = messageOf(error).split("\n");
          throw failure(`expression '${text}' resulted in error: ${asGo(summary)}`, error);
        }
      },
    };
  }

  #environment({ params, variables, authorizer }: Scope): CelEnvironment {
    const key = `${params === true} ${variables === true} ${authorizer !== false}`;
    const known = this.#environments.get(key);
    if (known) return known;
    const made = createBaseEnvironment();
    for (const name of ["object", "oldObject", "request", "namespaceObject"]) made.registerVariable(name, "dyn");
    if (params === true) made.registerVariable("params", "dyn");
    if (variables === true) made.registerVariable("variables", "dyn");
    if (authorizer !== false) registerAuthorizer(made);
    this.#environments.set(key, made);
    return made;
  }
}

function failure(message: string, cause?: unknown): CausewayError {
  const hint = "Mend the expression; has(object.field) tells whether a field is there.";
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

/** A compiler's complaint as cel-go shows it: where, what, and the line with a mark below. */
function located(text: string, error: unknown): string {
  const { summary, range } = (error ?? {}) as { summary?: string; range?: { start?: number } };
  const said = summary ?? messageOf(error).split("\n")[0] ?? "";
  const start = Math.min(range?.start ?? 0, text.length);
  const before = text.slice(0, start).split("\n");
  const column = before.at(-1)?.length ?? 0;
  const line = text.split("\n")[before.length - 1] ?? "";
  const unknown = /^Unknown variable: (.*)$/.exec(said);
  const what = unknown ? `undeclared reference to '${unknown[1]}' (in container '')` : said;
  return `ERROR: <input>:${before.length}:${column + 1}: ${what}\n | ${line}\n | ${".".repeat(column)}^`;
}
