import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { machineDrainRuleV1Beta1 } from "./v1beta1/machine-drain-rule.ts";
import { int32, labelSelector, list, object, oneOf, optional } from "../schema/fields.ts";

const machineDrainRuleSpec = object({
  drain: object({ behavior: oneOf(["Drain", "Skip", "WaitCompleted"]), order: optional(int32()) }),
  machines: optional(
    list(object({ clusterSelector: optional(labelSelector), selector: optional(labelSelector) }), { min: 1, max: 32 }),
  ),
  pods: optional(
    list(object({ namespaceSelector: optional(labelSelector), selector: optional(labelSelector) }), {
      min: 1,
      max: 32,
    }),
  ),
});

/** What becomes of which pods when a Machine is drained. */
export type MachineDrainRuleSpec = Static<typeof machineDrainRuleSpec>;

/** How Pods are treated when the Node of a Machine is drained. */
export type MachineDrainRule = Resource<MachineDrainRuleSpec, Record<string, never>>;

/** Its kind, for clients and for the CRD: stored as v1beta2, also served as v1beta1. */
export const MachineDrainRule: Kind<MachineDrainRule> = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachineDrainRule",
  plural: "machinedrainrules",
  description: "How Pods are treated when the Node of a Machine is drained.",

  labels: { ...contractLabels, [labels.provider]: "cluster-api" },
  columns: [column("Behavior", ".spec.drain.behavior"), column("Order", ".spec.drain.order"), age],

  spec: machineDrainRuleSpec,

  versions: [machineDrainRuleV1Beta1],
});
