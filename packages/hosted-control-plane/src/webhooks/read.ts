import { isNotFound, type KubernetesClient, type SelectorLike } from "@causeway/kubernetes";
import type { Webhook, WebhookConfiguration, WebhookRule } from "./critical.ts";
import type { Finding } from "./findings.ts";

/** Objects of one page, and pages at most: a tenant writes as many as its API accepts. */
const PAGE = 10;
const PAGES = 10;
/** Milliseconds after which an APIService that is not available is no restart of its pods any more. */
const RESTART_TIME = 60_000;

type Json = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const records = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const textOf = (value: unknown, otherwise = ""): string => (typeof value === "string" ? value : otherwise);
const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];

/** Webhooks whose failure fails the request. */
export async function failingClosed(client: KubernetesClient, signal: AbortSignal): Promise<Webhook[]> {
  const found: Webhook[] = [];
  for (const kind of ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"] as const) {
    const path = `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}s`;
    for (const object of await listed(client, path, {}, signal)) {
      const configuration = { kind, name: nameOf(object) };
      for (const each of records(object["webhooks"]))
        if (each["failurePolicy"] !== "Ignore") found.push(webhookOf(configuration, each));
    }
  }
  return found;
}

function webhookOf(configuration: WebhookConfiguration, webhook: Json): Webhook {
  return {
    configuration,
    name: textOf(webhook["name"]),
    rules: records(webhook["rules"]).map(ruleOf),
    namespaceSelector: selectorOf(webhook["namespaceSelector"]),
    objectSelector: selectorOf(webhook["objectSelector"]),
  };
}

function ruleOf(rule: Json): WebhookRule {
  return {
    apiGroups: texts(rule["apiGroups"]),
    apiVersions: texts(rule["apiVersions"]),
    resources: texts(rule["resources"]),
    operations: texts(rule["operations"]),
    scope: textOf(rule["scope"], "*"),
  };
}

const selectorOf = (value: unknown): SelectorLike | undefined =>
  isRecord(value) ? (value as SelectorLike) : undefined;

/** APIServices of the tenant that have not been available for a while. Without them discovery is incomplete. */
export async function unavailableServices(
  client: KubernetesClient,
  now: number,
  signal: AbortSignal,
): Promise<Finding[]> {
  const path = "/apis/apiregistration.k8s.io/v1/apiservices";
  const query = { labelSelector: "!kube-aggregator.kubernetes.io/automanaged" };
  return (await listed(client, path, query, signal)).flatMap((object): Finding[] => {
    const { spec, status } = object;
    if (!isRecord(spec) || !isRecord(spec["service"])) return [];
    const conditions = records(isRecord(status) ? status["conditions"] : undefined);
    const available = conditions.find(({ type }) => type === "Available");
    const since = Date.parse(textOf(available?.["lastTransitionTime"]));
    if (available?.["status"] !== "False" || !(now - since >= RESTART_TIME)) return [];
    const because = textOf(available["message"], "no cause was reported");
    return [{ kind: "APIService", name: nameOf(object), what: "deletions of namespaces", because }];
  });
}

/** Names and labels of the namespaces whose requests are critical. */
export async function systemNamespaces(
  client: KubernetesClient,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Readonly<Record<string, string>>>> {
  const labels = new Map<string, Readonly<Record<string, string>>>();
  for (const name of names) {
    try {
      const found = await client.request("GET", `/api/v1/namespaces/${name}`, { signal });
      const metadata = isRecord(found) && isRecord(found["metadata"]) ? found["metadata"] : {};
      labels.set(name, (metadata["labels"] ?? {}) as Readonly<Record<string, string>>);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return labels;
}

/** The name of the first object of a collection. */
export async function firstName(
  client: KubernetesClient,
  path: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const page = await client.request("GET", path, { query: { limit: "1" }, signal });
  const [first] = records(isRecord(page) ? page["items"] : undefined);
  return first === undefined ? undefined : nameOf(first);
}

const nameOf = ({ metadata }: Json): string => (isRecord(metadata) ? textOf(metadata["name"]) : "");

async function listed(
  client: KubernetesClient,
  path: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<readonly Json[]> {
  const all: Json[] = [];
  let from = "";
  for (let page = 0; page < PAGES; page += 1) {
    const more: Record<string, string> = from === "" ? {} : { continue: from };
    const body = await client
      .request("GET", path, { query: { ...query, limit: String(PAGE), ...more }, signal })
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
    if (!isRecord(body)) return all;
    all.push(...records(body["items"]));
    from = textOf(isRecord(body["metadata"]) ? body["metadata"]["continue"] : undefined);
    if (from === "") return all;
  }
  return all;
}
