import { at, records, type Json } from "../json.ts";
import { define, type Definition } from "../kinds/define.ts";
import type { Resource } from "../kinds/resource.ts";
import { AGE, NAME } from "../tables/table.ts";
import { GROUP } from "./webhooks/hooks.ts";
import { webhookStrategy } from "./webhooks/strategy.ts";

/** The kinds by which admission is configured: admissionregistration.k8s.io/v1. */
export function admissionKinds(): Resource[] {
  return webhookKinds().map(define);
}

function webhookKinds(): Definition[] {
  const webhooks = { name: "Webhooks", type: "integer", cell: (o: Json) => records(at(o, "webhooks")).length } as const;
  const common = {
    group: GROUP,
    clusterScoped: true,
    categories: ["api-extensions"],
    generation: true,
    columns: [NAME, webhooks, AGE],
    strategy: webhookStrategy,
  };
  return [
    { ...common, kind: "MutatingWebhookConfiguration", plural: "mutatingwebhookconfigurations" },
    { ...common, kind: "ValidatingWebhookConfiguration", plural: "validatingwebhookconfigurations" },
  ];
}
