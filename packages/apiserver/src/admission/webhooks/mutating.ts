import { messageOf } from "@causeway/foundation";
import type { JsonPatchOperation, KubeObject } from "@causeway/kubernetes";
import { record, same, type Json } from "../../json/json.ts";
import { applyJsonPatch } from "../../patch/index.ts";
import { between } from "../attributes.ts";
import type { Attempt } from "../../contract/admission.ts";
import { askHook, type Invocation } from "./call.ts";
import { CallFailure, internalError } from "./errors.ts";
import type { Hook } from "./hooks.ts";
import { invocationOf } from "./matching.ts";

interface Round {
  /** Webhooks that were called and want to be called again when others change the object. */
  readonly asked: Set<string>;
  /** Those of them that have to be. */
  readonly again: Set<string>;
  /** In the second round, which of the webhooks are called. */
  readonly only?: ReadonlySet<string>;
}

/**
 * Asks the webhooks one after the other, each about what the one before made of the object; once again those that want
 * it when it changed.
 */
export async function mutateByHooks(hooks: readonly Hook[], attempt: Attempt): Promise<KubeObject | undefined> {
  const round: Round = { asked: new Set(), again: new Set() };
  const first = await pass(hooks, attempt, round);
  const again = new Set(round.again);
  return pass(hooks, { ...attempt, object: first }, { ...round, again, only: again });
}

async function pass(hooks: readonly Hook[], attempt: Attempt, round: Round): Promise<KubeObject | undefined> {
  let { object } = attempt;
  for (const [index, hook] of hooks.entries()) {
    if (round.only && !round.only.has(hook.id)) continue;
    const now = { ...attempt, object };
    const invocation = await invocationOf(hook, now);
    if (!invocation) continue;
    const place = `round_${round.only ? 1 : 0}_index_${index}`;
    const made = await unlessIgnored(hook, now, {
      ask: () => changedBy(invocation),
      failedOpen: `failed-open.mutation.webhook.admission.k8s.io/${place}`,
    });
    const mutated = made !== undefined && !same(made, object);
    const note = { configuration: hook.configuration, webhook: hook.name, mutated };
    attempt.call.annotate(`mutation.webhook.admission.k8s.io/${place}`, JSON.stringify(note));
    if (mutated) {
      object = made;
      for (const id of round.asked) round.again.add(id);
      round.asked.clear();
    }
    if (hook.reinvocable) round.asked.add(hook.id);
  }
  return object;
}

/** Fails closed or open, as the webhook's failurePolicy says. */
export async function unlessIgnored<T>(
  hook: Hook,
  { call }: Attempt,
  { ask, failedOpen }: { ask: () => Promise<T>; failedOpen: string },
): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    if (!hook.ignoresFailure) throw internalError(error);
    call.annotate(failedOpen, hook.name);
    call.cluster.log.warn("a webhook that may fail failed", { webhook: hook.name, reason: messageOf(error) });
    return undefined;
  }
}

async function changedBy(invocation: Invocation): Promise<KubeObject | undefined> {
  const patch = await askHook(invocation, true);
  if (patch === undefined) return undefined;
  const { hook, form, attempt } = invocation;
  const { object, call } = attempt;
  if (object === undefined) {
    const what = `admission webhook ${JSON.stringify(hook.name)} attempted to modify the object`;
    throw internalError(new Error(`${what}, which is not supported for this operation`));
  }
  return between(patched(object, patch) as unknown as KubeObject, form, call);
}

function patched(object: KubeObject, patch: readonly Json[]): Json {
  try {
    return record(applyJsonPatch(object, patch as unknown as JsonPatchOperation[]));
  } catch (error) {
    throw internalError(error);
  }
}
