import type { DaemonSet, Node } from "@causeway/kubernetes";
import { tolerates } from "../scheduler/filters/tolerations.ts";
import { tooManyRules } from "../model/rules.ts";
import { labelTest, nodeSelectorTest } from "../model/selector.ts";
import type { SchedulingSpec } from "../model/spec.ts";
import { tolerationsOf } from "./template.ts";

/** What the taints, name and labels of a node mean for the pods of a DaemonSet. */
export interface Eligibility {
  /** A pod is created on the node. */
  readonly run: boolean;
  /** A pod that is on the node remains. */
  readonly stay: boolean;
}

const none: Eligibility = { run: false, stay: false };

/**
 * Whether the pods of a DaemonSet run on a node: by name, selectors and taints, as the scheduler's filters of these
 * names judge.
 */
export function eligibility({ spec: { template } }: DaemonSet): (node: Node) => Eligibility {
  const spec = template.spec as unknown as SchedulingSpec;
  const selects = labelTest({ matchLabels: spec.nodeSelector ?? {} });
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  // The scheduler says of the pods that they have too many rules.
  const affine = nodeSelectorTest(tooManyRules(spec) === undefined ? required : undefined);
  const tolerations = tolerationsOf(template.spec);
  return (node) => {
    if (spec.nodeName && spec.nodeName !== node.metadata.name) return none;
    if (!selects(node.metadata.labels ?? {}) || !affine(node)) return none;
    const refused = (node.spec.taints ?? []).filter((taint) => !tolerates(tolerations, taint));
    return {
      run: refused.every(({ effect }) => effect === "PreferNoSchedule"),
      stay: refused.every(({ effect }) => effect !== "NoExecute"),
    };
  };
}
