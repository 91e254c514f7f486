import type { Cluster } from "../../contract/cluster.ts";
import type { Call } from "../../contract/call.ts";
import type { Expressions } from "../cel/expressions.ts";
import type { AdmissionPlugin, Operation, Phase } from "../../contract/admission.ts";
import { coveredForm } from "../rules.ts";
import { GROUP, readHooks, type Hook } from "./hooks.ts";
import { mutateByHooks } from "./mutating.ts";
import { validateByHooks } from "./validating.ts";

const PLURALS: Readonly<Record<Phase, string>> = {
  mutate: "mutatingwebhookconfigurations",
  validate: "validatingwebhookconfigurations",
};
const PHASES: readonly Phase[] = ["mutate", "validate"];

/** Admission webhooks as the cluster's configurations name them, from the commit on. */
export function webhookPlugin(cluster: Cluster, expressions: Expressions): AdmissionPlugin {
  const known = new Map<Phase, readonly Hook[]>();
  cluster.changes.listen(({ resource }) => {
    if (resource.group !== GROUP) return;
    for (const phase of PHASES) if (resource.plural === PLURALS[phase]) known.delete(phase);
  });
  const hooks = (phase: Phase): readonly Hook[] => {
    const found = known.get(phase) ?? readHooks(cluster, PLURALS[phase], expressions);
    known.set(phase, found);
    return found;
  };
  return {
    concerns: (call, operation, phase) => concerns(hooks(phase), call, operation),
    mutate: (attempt) => mutateByHooks(hooks("mutate"), attempt),
    validate: (attempt) => validateByHooks(hooks("validate"), attempt),
  };
}

/** Who may ask webhooks about webhooks could lock themselves out: configurations concern none. */
function concerns(hooks: readonly Hook[], call: Call, operation: Operation): boolean {
  if (hooks.length === 0 || call.resource.group === GROUP) return false;
  return hooks.some(({ rules, matchPolicy }) => coveredForm(rules, matchPolicy, { call, operation }) !== undefined);
}
