import type { Attempt } from "../../contract/admission.ts";
import { askHook } from "./call.ts";
import type { Hook } from "./hooks.ts";
import { invocationOf } from "./matching.ts";
import { unlessIgnored } from "./mutating.ts";

/** Asks all webhooks at once, and waits for all; the refusal that came first is the answer. */
export async function validateByHooks(hooks: readonly Hook[], attempt: Attempt): Promise<void> {
  const found = await Promise.all(hooks.map((hook) => invocationOf(hook, attempt)));
  const invocations = found.filter((i) => i !== undefined);
  const refusals: unknown[] = [];
  await Promise.all(
    invocations.map((invocation, index) =>
      unlessIgnored(invocation.hook, attempt, {
        ask: () => askHook(invocation, false),
        failedOpen: `failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`,
      }).catch((error: unknown) => {
        refusals.push(error);
      }),
    ),
  );
  if (refusals.length > 0) throw refusals[0];
}
