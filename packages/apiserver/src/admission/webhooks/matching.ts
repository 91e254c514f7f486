import { forbidden } from "../../errors/status.ts";
import { inForm, inSelectedNamespace, isSelectedObject, nameOf } from "../attributes.ts";
import { activationOf } from "../cel/activation.ts";
import type { Activation } from "../cel/expressions.ts";
import { judgeConditions } from "../conditions.ts";
import type { Attempt } from "../../contract/admission.ts";
import { coveredForm } from "../rules.ts";
import type { Invocation } from "./call.ts";
import type { Hook } from "./hooks.ts";

/**
 * How a webhook is to be called for an attempt; undefined when it is not. Throws 403 when its conditions cannot be
 * evaluated.
 */
export async function invocationOf(hook: Hook, asked: Attempt): Promise<Invocation | undefined> {
  const form = coveredForm(hook.rules, hook.matchPolicy, asked);
  if (!form) return undefined;
  if (!inSelectedNamespace(hook.namespaceSelector, asked)) return undefined;
  if (!isSelectedObject(hook.objectSelector, asked)) return undefined;
  const attempt = await inForm(asked, form);
  let activation: Activation | undefined;
  const judged = judgeConditions(hook.conditions, () => (activation ??= activationOf(attempt, form, false)));
  if (judged.matches) return { hook, form, attempt };
  if (judged.error === undefined || hook.ignoresFailure) return undefined;
  throw forbidden(attempt.call.resource, nameOf(attempt), judged.error);
}
