import type { Cluster } from "../contract/cluster.ts";
import { certificateAdmission } from "../auth/certificate-admission.ts";
import { nodeRestriction } from "../auth/node-restriction.ts";
import { Expressions } from "./cel/expressions.ts";
import { admissionChain } from "./chain.ts";
import type { Admission } from "../contract/admission.ts";
import { measured } from "./measured.ts";
import { ownRulesPlugin } from "./own-rules.ts";
import { policyPlugin } from "./policies/plugin.ts";
import { quotaPlugin } from "./quota/plugin.ts";
import { webhookPlugin } from "./webhooks/plugin.ts";

/** The admission of one cluster, made when the first write asks. */
export function openAdmission(cluster: () => Cluster): Admission {
  let made: Admission | undefined;
  const chain = (): Admission => (made ??= chainOf(cluster()));
  return {
    concerns: (call, operation, phase) => chain().concerns(call, operation, phase),
    mutate: (attempt) => chain().mutate(attempt),
    validate: (attempt) => chain().validate(attempt),
  };
}

function chainOf(cluster: Cluster): Admission {
  const expressions = new Expressions();
  const { metrics } = cluster;
  const policies = { validate: "ValidatingAdmissionPolicy" };
  const webhooks = { mutate: "MutatingAdmissionWebhook", validate: "ValidatingAdmissionWebhook" };
  return admissionChain([
    measured(metrics, { mutate: "NodeRestriction" }, nodeRestriction),
    measured(metrics, { validate: "CertificateApproval" }, certificateAdmission),
    ...(cluster.rules.length === 0
      ? []
      : [measured(metrics, { mutate: "OwnRules", validate: "OwnRules" }, ownRulesPlugin(cluster.rules))]),
    measured(metrics, policies, policyPlugin(cluster, expressions)),
    measured(metrics, webhooks, webhookPlugin(cluster, expressions)),
    measured(metrics, { validate: "ResourceQuota" }, quotaPlugin(cluster)),
  ]);
}
