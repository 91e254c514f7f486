import { messageOf } from "@causeway/foundation";
import type { Activation, Expression } from "../cel/expressions.ts";
import { judgeConditions } from "../conditions.ts";
import type { Policy, Validation } from "./read.ts";

const LONGEST_MESSAGE = 5 * 1024;

/** One reason to refuse an attempt. */
export interface Complaint {
  readonly message: string;
  /** "" where the policy itself failed. */
  readonly reason: string;
  /** Which validation. */
  readonly index: number;
}

/** What a policy finds about one attempt. */
export interface Judgement {
  readonly complaints: readonly Complaint[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
  /** Audit annotations that could not be evaluated: they deny, whatever the binding says. */
  readonly faults: readonly string[];
}

const NOTHING: Judgement = { complaints: [], annotations: [], faults: [] };

/** What a policy says of an attempt, by one parameter. */
export function judge(policy: Policy, bare: Activation): Judgement {
  const judged = judgeConditions(policy.conditions, () => bare);
  if (judged.error !== undefined && !policy.ignoresFailure) {
    return { ...NOTHING, complaints: [{ message: judged.error, reason: "", index: 0 }] };
  }
  if (!judged.matches) return NOTHING;
  const activation = withVariables(policy, bare);
  const complaints = policy.validations.flatMap((validation, index): Complaint[] => {
    const result = attempted(() => validation.expression.evaluate(activation));
    if (result.error !== undefined) {
      return policy.ignoresFailure ? [] : [{ message: result.error, reason: "", index }];
    }
    if (result.value === true) return [];
    return [{ message: messageFor(validation, activation), reason: validation.reason, index }];
  });
  return { complaints, ...annotationsOf(policy, activation) };
}

/** Variables are worked out when they are first requested, each at most once. */
function withVariables(policy: Policy, activation: Activation): Activation {
  if (policy.variables.length === 0) return activation;
  const variables = {};
  const whole = { ...activation, variables };
  for (const { name, expression } of policy.variables) {
    let known: { readonly value?: unknown; readonly error?: string } | undefined;
    Object.defineProperty(variables, name, {
      enumerable: true,
      get() {
        known ??= attempted(() => expression.evaluate(whole));
        if (known.error === undefined) return known.value;
        throw new Error(`composited variable ${JSON.stringify(name)} fails to evaluate: ${known.error}`);
      },
    });
  }
  return whole;
}

function messageFor({ expression, message, messageExpression }: Validation, activation: Activation): string {
  return computed(messageExpression, activation) || message || `failed expression: ${expression.text.trim()}`;
}

/** A message that cannot be computed, is too long or has lines gives way to the fixed one. */
function computed(expression: Expression | undefined, activation: Activation): string {
  const { value } = attempted(() => expression?.evaluate(activation));
  const text = typeof value === "string" ? value.trim() : "";
  return text.includes("\n") || Buffer.byteLength(text) > LONGEST_MESSAGE ? "" : text;
}

function annotationsOf(policy: Policy, activation: Activation): Pick<Judgement, "annotations" | "faults"> {
  const annotations: { key: string; value: string }[] = [];
  const faults: string[] = [];
  for (const { key, expression } of policy.annotations) {
    const { value, error } = attempted(() => expression.evaluate(activation));
    if (error !== undefined && !policy.ignoresFailure) faults.push(error);
    const text = typeof value === "string" ? value.trim() : "";
    if (text) annotations.push({ key, value: text });
  }
  return { annotations, faults };
}

function attempted(work: () => unknown): { readonly value?: unknown; readonly error?: string } {
  try {
    return { value: work() };
  } catch (error) {
    return { error: messageOf(error) };
  }
}
