import { defaultIngressClass } from "../../admission/builtin/classes.ts";
import { STATUS } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { record } from "../../json/json.ts";
import { stored } from "../shared/immutable-fields.ts";
import { checked } from "../shared/rules.ts";
import { INGRESS_CLASS_COLUMNS, INGRESS_COLUMNS, NETWORK_POLICY_COLUMNS } from "./columns.ts";
import { INGRESS_CLASS_RULES, INGRESS_RULES, POLICY_RULES } from "./rules.ts";
import { ingressClassProblems, ingressProblems, networkPolicyProblems } from "./specs.ts";

/** Kinds of group networking.k8s.io, but for those of Service addresses. */
export function networkingKinds(): Resource[] {
  const all = { group: "networking.k8s.io", generation: true };
  return [
    stored({
      ...all,
      kind: "Ingress",
      plural: "ingresses",
      shortNames: ["ing"],
      subresources: [STATUS],
      columns: INGRESS_COLUMNS,
      strategy: {
        mutate: defaultIngressClass,
        ...checked(INGRESS_RULES, ({ spec }) => ingressProblems(record(spec))),
      },
    }),
    stored({
      ...all,
      kind: "IngressClass",
      plural: "ingressclasses",
      clusterScoped: true,
      columns: INGRESS_CLASS_COLUMNS,
      strategy: checked(INGRESS_CLASS_RULES, ({ spec }) => ingressClassProblems(record(spec))),
    }),
    stored({
      ...all,
      kind: "NetworkPolicy",
      plural: "networkpolicies",
      shortNames: ["netpol"],
      columns: NETWORK_POLICY_COLUMNS,
      strategy: checked(POLICY_RULES, ({ spec }) => networkPolicyProblems(record(spec))),
    }),
  ];
}
