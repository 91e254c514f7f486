import { shortList } from "@causeway/foundation";
import type { HostedControlPlane } from "@causeway/api";
import type { PlannedEvent, WantedCondition } from "@causeway/kubernetes";

/** What a tenant registered and its cluster suffers from. */
export interface Finding {
  readonly kind: "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" | "APIService";
  readonly name: string;
  /** Which webhook of the configuration. */
  readonly webhook?: string;
  /** What fails. */
  readonly what: string;
  /** The server's words. */
  readonly because: string;
}

const TYPE = "WebhooksHealthy";
const SHOWN = 5;
const LONGEST_REASON = 300;

/** Do webhooks and APIServices of the tenant let the cluster work? Unknown before the first check. */
export function webhookConditions(found: readonly Finding[] | undefined): WantedCondition[] {
  if (found === undefined) return [];
  const [first] = found;
  if (first === undefined) return [{ type: TYPE, status: "True", reason: "Healthy" }];
  const reason = first.kind === "APIService" ? "ProblematicAPIService" : "ProblematicWebhook";
  return [{ type: TYPE, status: "False", reason, message: messageOf(found) }];
}

function messageOf(found: readonly Finding[]): string {
  return shortList(found.map(sentence), SHOWN, { separator: "; " });
}

function sentence(finding: Finding): string {
  const { kind, name, what } = finding;
  const because = finding.because.slice(0, LONGEST_REASON);
  if (kind === "APIService")
    return `APIService ${name} is not available, so namespaces cannot be deleted: ${because}; repair its Service or delete it (PROBLEMATIC_API_SERVICE)`;
  return `webhook ${finding.webhook ?? ""} of ${kind} ${name} breaks ${what}: ${because}; repair or delete it, exempt kube-system and kube-node-lease in its namespaceSelector, or set spec.brokenWebhooks to Exempt (PROBLEMATIC_WEBHOOK)`;
}

/** One event when the cluster begins to suffer, and one when that ends. */
export function webhookEvents({ status }: HostedControlPlane, found: readonly Finding[] | undefined): PlannedEvent[] {
  const [wanted] = webhookConditions(found);
  if (wanted === undefined) return [];
  const known = status?.conditions?.find(({ type }) => type === TYPE);
  if (known?.status === wanted.status) return [];
  if (wanted.status === "False") return [{ type: "Warning", reason: wanted.reason, message: wanted.message ?? "" }];
  if (known === undefined) return [];
  const message = "webhooks and APIServices of the tenant break nothing of the system any more";
  return [{ type: "Normal", reason: "WebhooksHealthy", message }];
}

/** The same things are wrong; what the server says of them may differ each time. */
export function isSameFinding(a: Finding, b: Finding): boolean {
  return a.kind === b.kind && a.name === b.name && a.webhook === b.webhook && a.what === b.what;
}
