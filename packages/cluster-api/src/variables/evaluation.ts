import type { ClassVariable } from "./class-variables.ts";
import { clusterVariables, overrides, type VariableValue, type VariableVerdict } from "./cluster-variables.ts";
import { ruleBudget, type RuleBudget } from "./rules.ts";

/**
 * The variables of one topology against the definitions of its class. Each list of values is judged once, and all of
 * them within one budget for CEL rules, however often the objects of the topology are computed from them.
 */
export class VariableEvaluation {
  readonly #definitions: readonly ClassVariable[];
  readonly #budget: RuleBudget;
  readonly #verdicts = new Map<string, VariableVerdict>();

  constructor(definitions: readonly ClassVariable[], budget = ruleBudget()) {
    this.#definitions = definitions;
    this.#budget = budget;
  }

  /** The variables of the Cluster, with defaults. */
  cluster(values: readonly VariableValue[]): VariableVerdict {
    return this.#once("", () => clusterVariables(values, this.#definitions, { budget: this.#budget }));
  }

  /** The values that its control plane or workers have in the place of the Cluster's; `path` says whose. */
  overrides(values: readonly VariableValue[], path: string): VariableVerdict {
    return this.#once(path, () => overrides(values, this.#definitions, { path, budget: this.#budget }));
  }

  #once(id: string, judge: () => VariableVerdict): VariableVerdict {
    const verdict = this.#verdicts.get(id) ?? judge();
    this.#verdicts.set(id, verdict);
    return verdict;
  }
}
