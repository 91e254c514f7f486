import { at, records, text, type Json } from "../json/json.ts";
import { define, STATUS, type Definition } from "../contract/define.ts";
import type { Column, Resource } from "../contract/resource.ts";
import { AGE, NAME } from "../tables/table.ts";
import { policyBindingStrategy } from "./policies/binding-strategy.ts";
import { policyStrategy } from "./policies/strategy.ts";
import { GROUP } from "./webhooks/hooks.ts";
import { webhookStrategy } from "./webhooks/strategy.ts";

/** The kinds by which admission is configured: admissionregistration.k8s.io/v1. */
export function admissionKinds(): Resource[] {
  return [...webhookKinds(), ...policyKinds()].map(define);
}

const COMMON = { group: GROUP, clusterScoped: true, categories: ["api-extensions"], generation: true } as const;
const count = (name: string, ...path: string[]): Column => ({
  name,
  type: "integer",
  cell: (o: Json) => records(at(o, ...path)).length,
});

function webhookKinds(): Definition[] {
  const common = { ...COMMON, columns: [NAME, count("Webhooks", "webhooks"), AGE], strategy: webhookStrategy };
  return [
    { ...common, kind: "MutatingWebhookConfiguration", plural: "mutatingwebhookconfigurations" },
    { ...common, kind: "ValidatingWebhookConfiguration", plural: "validatingwebhookconfigurations" },
  ];
}

function policyKinds(): Definition[] {
  const paramKind = (o: Json): string => {
    const kind = at(o, "spec", "paramKind");
    return kind ? `${text(at(kind, "apiVersion"))}/${text(at(kind, "kind"))}` : "<unset>";
  };
  return [
    {
      ...COMMON,
      kind: "ValidatingAdmissionPolicy",
      plural: "validatingadmissionpolicies",
      subresources: [STATUS],
      columns: [NAME, count("Validations", "spec", "validations"), { name: "ParamKind", cell: paramKind }, AGE],
      strategy: policyStrategy,
    },
    {
      ...COMMON,
      kind: "ValidatingAdmissionPolicyBinding",
      plural: "validatingadmissionpolicybindings",
      columns: [
        NAME,
        { name: "PolicyName", cell: (o) => text(at(o, "spec", "policyName")) },
        { name: "ParamRef", cell: paramReference },
        AGE,
      ],
      strategy: policyBindingStrategy,
    },
  ];
}

function paramReference(binding: Json): string {
  const reference = at(binding, "spec", "paramRef");
  if (!reference) return "<unset>";
  const name = text(at(reference, "name"));
  if (name === "") return text(at(reference, "namespace")) ? `${text(at(reference, "namespace"))}/*` : "*";
  return text(at(reference, "namespace")) ? `${text(at(reference, "namespace"))}/${name}` : `*/${name}`;
}
