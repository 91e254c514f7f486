import { matchesSelector, type SelectorLike } from "@causeway/kubernetes";

/** A request without which a cluster does not work, as a dry run. */
export interface CriticalRequest {
  /** For people. */
  readonly what: string;
  readonly group: string;
  readonly version: string;
  /** With its subresource, as rules of webhooks name it. */
  readonly resource: string;
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  /** Undefined: of the cluster. */
  readonly namespace?: string;
  readonly call: CriticalCall;
}

/** How it is made; `collection`: of the first object that this list has, if it has one. */
export interface CriticalCall {
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly collection?: true;
  /** Of the object, after its name. */
  readonly suffix?: string;
  readonly body?: unknown;
}

const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const system = "/api/v1/namespaces/kube-system";
const root = `${system}/configmaps/kube-root-ca.crt`;
const name = "causeway-webhook-check";
const renewal = { group: "coordination.k8s.io", version: "v1", resource: "leases", namespace: "kube-node-lease" };
const core = { group: "", version: "v1" };
const inSystem = { ...core, namespace: "kube-system" };

/** Of nodes, of kube-system, and of what deletes the objects of a namespace. */
export const criticalRequests: readonly CriticalRequest[] = [
  {
    what: "leases of nodes",
    ...renewal,
    operation: "CREATE",
    call: {
      method: "POST",
      path: leases,
      body: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec: {} },
    },
  },
  {
    what: "renewals of nodes' leases",
    ...renewal,
    operation: "UPDATE",
    call: { method: "PATCH", path: leases, collection: true, body: {} },
  },
  {
    what: "nodes that join",
    ...core,
    resource: "nodes",
    operation: "CREATE",
    call: { method: "POST", path: "/api/v1/nodes", body: { apiVersion: "v1", kind: "Node", metadata: { name } } },
  },
  {
    what: "the status of nodes",
    ...core,
    resource: "nodes/status",
    operation: "UPDATE",
    call: { method: "PATCH", path: "/api/v1/nodes", collection: true, suffix: "/status", body: {} },
  },
  {
    what: "pods of kube-system",
    ...inSystem,
    resource: "pods",
    operation: "CREATE",
    call: {
      method: "POST",
      path: `${system}/pods`,
      body: {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name },
        spec: { automountServiceAccountToken: false, containers: [{ name: "check", image: "registry.k8s.io/pause" }] },
      },
    },
  },
  {
    what: "ConfigMaps of kube-system",
    ...inSystem,
    resource: "configmaps",
    operation: "UPDATE",
    call: { method: "PATCH", path: root, body: {} },
  },
  {
    what: "deletions, which that of a namespace consists of",
    ...inSystem,
    resource: "configmaps",
    operation: "DELETE",
    call: { method: "DELETE", path: root },
  },
];

/** What decides for which requests a webhook is called. */
export interface Webhook {
  readonly configuration: WebhookConfiguration;
  readonly name: string;
  readonly rules: readonly WebhookRule[];
  readonly namespaceSelector: SelectorLike | undefined;
  readonly objectSelector: SelectorLike | undefined;
}

/** The object that has a webhook. */
export interface WebhookConfiguration {
  readonly kind: "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration";
  readonly name: string;
}

/** Requests that a webhook intercepts; "*" is all of a field. */
export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly operations: readonly string[];
  readonly scope: string;
}

type Labels = Readonly<Record<string, string>>;

/**
 * Is the webhook called for the request? Conditions in CEL are not evaluated: the request itself shows what they do.
 */
export function intercepts(
  webhook: Webhook,
  request: CriticalRequest,
  namespaces: ReadonlyMap<string, Labels>,
): boolean {
  const { namespace } = request;
  const labels = namespace === undefined ? undefined : (namespaces.get(namespace) ?? {});
  if (labels !== undefined && !matches(webhook.namespaceSelector, labels)) return false;
  // Objects of the system have no labels that all of them share.
  if (!matches(webhook.objectSelector, {})) return false;
  return webhook.rules.some((rule) => covers(rule, request));
}

function matches(selector: SelectorLike | undefined, labels: Labels): boolean {
  return selector === undefined || matchesSelector(selector, { ...labels });
}

function covers(rule: WebhookRule, { group, version, resource, operation, namespace }: CriticalRequest): boolean {
  const scope = namespace === undefined ? "Cluster" : "Namespaced";
  return (
    has(rule.apiGroups, group) &&
    has(rule.apiVersions, version) &&
    has(rule.operations, operation) &&
    ["*", scope].includes(rule.scope) &&
    rule.resources.some((each) => coversResource(each, resource))
  );
}

const has = (values: readonly string[], value: string): boolean => values.includes("*") || values.includes(value);

/** "*": every resource, no subresource; "pods/*": pods and what is below; "*\/status": the status of all. */
function coversResource(rule: string, resource: string): boolean {
  const [of = "", below] = resource.split("/");
  const [ruleOf = "", ruleBelow] = rule.split("/");
  if (ruleOf !== "*" && ruleOf !== of) return false;
  return ruleBelow === "*" || ruleBelow === below;
}
