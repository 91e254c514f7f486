import { CausewayError } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { criticalRequests, intercepts, type CriticalRequest, type Webhook } from "./critical.ts";
import { exempt } from "./exempt.ts";
import type { Finding } from "./findings.ts";
import { failingClosed, firstName, systemNamespaces, unavailableServices } from "./read.ts";

/** The API that is checked, and what may be changed there. */
export interface CheckOptions {
  /** Of an administrator of the tenant's API. */
  readonly client: KubernetesClient;
  /** Another one of the same API, for what each check reads. Default: `client`. */
  readonly reads?: KubernetesClient | undefined;
  /** Exempt the system's requests from webhooks that break them. */
  readonly mayExempt: boolean;
  readonly now: number;
  /** Ends the requests of the check: what was found by then counts. Default: when all is ended. */
  readonly tries?: AbortSignal;
}

/** What a check found, and the webhooks that it exempted from requests of the system. */
export interface Checked {
  readonly found: readonly Finding[];
  readonly exempted: readonly string[];
}

/**
 * Checks whether webhooks and APIServices of a tenant break its cluster. Only requests that a webhook intercepts are
 * tried, as dry runs, which webhooks answer as they answer others. The server names the webhook that failed.
 */
export async function checkWebhooks(options: CheckOptions, signal: AbortSignal): Promise<Checked> {
  const { client, reads = client, mayExempt, now } = options;
  const tries = options.tries ? AbortSignal.any([signal, options.tries]) : signal;
  const broken = await brokenWebhooks(client, { reads, tries, signal });
  const exempted: string[] = [];
  if (mayExempt)
    for (const { webhook, isFailure } of broken)
      // A webhook that works and denies a request is a policy, which only its owner may lift.
      if (isFailure && (await exempt(client, webhook, signal)))
        exempted.push(`webhook ${webhook.name} of ${webhook.configuration.kind} ${webhook.configuration.name}`);
  const after = exempted.length === 0 ? broken : await brokenWebhooks(client, { reads, tries, signal });
  const services = await unavailableServices(reads, now, signal);
  return { found: [...after.map(({ finding }) => finding), ...services], exempted };
}

interface Broken {
  readonly webhook: Webhook;
  readonly finding: Finding;
  /** It could not be called, or made no sense; else it denied the request. */
  readonly isFailure: boolean;
}

async function brokenWebhooks(
  client: KubernetesClient,
  using: { readonly reads: KubernetesClient; readonly tries: AbortSignal; readonly signal: AbortSignal },
): Promise<Broken[]> {
  const { reads, tries, signal } = using;
  const webhooks = await failingClosed(reads, signal);
  if (webhooks.length === 0) return [];
  const names = [...new Set(criticalRequests.flatMap(({ namespace }) => namespace ?? []))];
  const namespaces = await systemNamespaces(client, names, signal);
  const broken: Broken[] = [];
  for (const request of criticalRequests) {
    const known = new Set(broken.map(({ webhook }) => webhook));
    const candidates = webhooks.filter((each) => !known.has(each) && intercepts(each, request, namespaces));
    if (candidates.length === 0) continue;
    let refusal: CausewayError | undefined;
    try {
      refusal = await refusalOf(client, request, tries);
    } catch (error) {
      if (tries.aborted && !signal.aborted) break;
      throw error;
    }
    const culprit = refusal && culpritOf(refusal.message);
    if (refusal === undefined || culprit === undefined) continue;
    for (const webhook of candidates) {
      if (culprit.name !== webhook.name) continue;
      const { kind, name } = webhook.configuration;
      const finding = { kind, name, webhook: webhook.name, what: request.what, because: refusal.message };
      broken.push({ webhook, isFailure: culprit.isFailure, finding });
    }
  }
  return broken;
}

/**
 * Refusals have no field for the webhook that refused or failed: both servers quote its name at the beginning, before
 * anything that the webhook said itself. So neither a webhook nor the message of an admission policy, which the tenant
 * writes, can pass for another webhook, nor a denial for a failure. Undefined: no webhook refused.
 */
export function culpritOf(message: string): { readonly name: string; readonly isFailure: boolean } | undefined {
  const said = /^(?:(?:Internal error occurred: )?(failed calling webhook)|admission webhook) "([^"]{1,253})"/;
  const [, failed, name] = said.exec(message) ?? [];
  return name === undefined ? undefined : { name, isFailure: failed !== undefined };
}

/** Why the request is refused; undefined: it is not, or it cannot be made. */
async function refusalOf(
  client: KubernetesClient,
  { call }: CriticalRequest,
  signal: AbortSignal,
): Promise<CausewayError | undefined> {
  const { method, body, collection, suffix = "" } = call;
  let path = call.path;
  if (collection === true) {
    const name = await firstName(client, path, signal);
    if (name === undefined) return undefined;
    path = `${path}/${name}`;
  }
  const contentType = method === "PATCH" ? { contentType: "application/merge-patch+json" } : {};
  const sent = body === undefined ? {} : { body, ...contentType };
  try {
    await client.request(method, `${path}${suffix}`, { query: { dryRun: "All" }, ...sent, signal });
    return undefined;
  } catch (error) {
    if (signal.aborted || !(error instanceof CausewayError)) throw error;
    return error;
  }
}
