import { type JsonObject, own } from "../../json/values.ts";
import { UNBOUNDED } from "../cel/sizes.ts";
import { type FieldError, forbidden } from "../field-error.ts";

/** The most that one rule, and all rules of a version, may be estimated to cost. */
export const RULE_LIMIT = 10_000_000;
const TOTAL_LIMIT = 100_000_000;
const NAMED = 4;

/** How many values of a schema one object can have; undefined when the schema sets no bound. */
export type Cardinality = number | undefined;

/** How many values a child of a schema can have: maxItems or maxProperties times those of its parent. */
export function childCardinality(own_: Cardinality, parent: JsonObject): Cardinality {
  const factor = entriesOf(parent);
  return own_ === undefined || factor === undefined ? undefined : times(own_, factor);
}

function entriesOf(schema: JsonObject): Cardinality {
  const type = own(schema, "type");
  if (type === "array") return bound(own(schema, "maxItems"));
  if (type === "object" && own(schema, "additionalProperties") !== undefined) {
    return bound(own(schema, "maxProperties"));
  }
  return 1;
}

function bound(value: unknown): Cardinality {
  return typeof value === "number" ? Math.max(0, value) : undefined;
}

/** A product that stops at the largest cost instead of passing it. */
export function times(cost: number, count: number): number {
  return Math.min(cost * count, UNBOUNDED);
}

/** What all rules of a version cost together, and which of them cost most of it. */
export class TotalCost {
  #total = 0;
  #expensive: { readonly path: string; readonly cost: number }[] = [];

  observe(path: string, cost: number): void {
    this.#total = Math.min(this.#total + cost, UNBOUNDED);
    if (cost < TOTAL_LIMIT / 100) return;
    this.#expensive = [...this.#expensive, { path, cost }].toSorted((a, b) => b.cost - a.cost).slice(0, NAMED);
  }

  problems(path: string): FieldError[] {
    if (this.#total <= TOTAL_LIMIT) return [];
    const part = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    const whole = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    return [
      ...this.#expensive.map((e) => forbidden(e.path, part)),
      forbidden(path, costProblem(whole, this.#total, TOTAL_LIMIT)),
    ];
  }
}

/** kube-apiserver's message for rules whose estimated cost is beyond a limit. */
export function costProblem(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const excess = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  const advice =
    "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";
  return `${what} exceeds budget by factor of ${excess} (${advice})`;
}
