import type { CallRecord, Fault } from "../interface.ts";

/** A fault as data, for the control API. All conditions given must hold. */
export interface FaultRule {
  readonly method?: string;
  /** Catalog type: "compute", "network"… */
  readonly service?: string;
  /** Regular expression on the path below the service's root, with query. */
  readonly path?: string;
  /** Matching requests to let pass first; default 0. */
  readonly skip?: number;
  /** How many requests it meets; default all. */
  readonly times?: number;
  readonly fault: Fault;
}

/** Decides which request meets which fault: first the function given in-process, then the rules of the control API. */
export class Faults {
  decide: ((call: CallRecord) => Fault | undefined) | undefined;
  #rules: { readonly rule: FaultRule; skip: number; times: number }[] = [];

  get rules(): readonly FaultRule[] {
    return this.#rules.map(({ rule, skip, times }) => ({ ...rule, skip, ...(times < Infinity ? { times } : {}) }));
  }

  set rules(rules: readonly FaultRule[]) {
    this.#rules = rules.map((rule) => ({ rule, skip: rule.skip ?? 0, times: rule.times ?? Infinity }));
  }

  of(call: CallRecord): Fault | undefined {
    const given = this.decide?.(call);
    if (given) return given;
    for (const entry of this.#rules) {
      if (entry.times <= 0 || !meets(entry.rule, call)) continue;
      if (entry.skip-- > 0) continue;
      entry.times--;
      return entry.rule.fault;
    }
    return undefined;
  }
}

function meets(rule: FaultRule, call: CallRecord): boolean {
  if (rule.method !== undefined && rule.method !== call.method) return false;
  if (rule.service !== undefined && rule.service !== call.service) return false;
  return rule.path === undefined || new RegExp(rule.path).test(call.path);
}
