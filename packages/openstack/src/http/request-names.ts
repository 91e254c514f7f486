/**
 * What the metrics name a call by. `service` as in this project ("load-balancer"), `route` with {id} in place of ids.
 */
export interface NamedCall {
  readonly service: string;
  readonly method: string;
  readonly route: string;
  /** Of an action: {"os-extend": …}. */
  readonly body?: unknown;
}

/** Names that do not follow from the route. */
const NAMED: Readonly<Record<string, string>> = {
  "identity POST /auth/tokens": "token_create",
  "compute GET /servers/detail": "server_list",
  "compute GET /servers/{id}/os-volume_attachments": "volume_attachment_list",
  "compute POST /servers/{id}/os-volume_attachments": "volume_attach",
  "compute DELETE /servers/{id}/os-volume_attachments/{id}": "volume_detach",
  "block-storage GET /volumes/detail": "volume_list",
  "block-storage GET /snapshots/detail": "snapshot_list",
  "block-storage GET /backups/detail": "backup_list",
  "network GET /extensions": "network_extension_list",
  "load-balancer PUT /pools/{id}/members": "loadbalancer_members_update",
};

/** Upstream's names of actions, which share a route. */
const ACTIONS: Readonly<Record<string, string>> = { "os-extend": "volume_expand" };

/** Where upstream's word is not the singular of the route's. */
const WORDS: Readonly<Record<string, string>> = {
  floatingips: "floating_ip",
  loadbalancers: "loadbalancer",
  healthmonitors: "healthmonitor",
  l7policies: "l7policy",
  rules: "l7rule",
};

/**
 * "<resource>_<verb>", the value of label `request` in openstack_api_requests_total and its fellows, as
 * cloud-provider-openstack's metrics have it: server_list, loadbalancer_listener_create, floating_ip_update.
 */
export function requestName({ service, method, route, body }: NamedCall): string {
  const named = NAMED[`${service} ${method} ${route}`] ?? actionName(route, body);
  if (named !== undefined) return named;
  const parts = route.split("/").filter((part) => part !== "");
  const words = parts.filter((part) => part !== "{id}" && part !== "detail");
  const last = words.at(-1);
  if (last === undefined) return "version_list";
  return `${resourceOf(service, words, last)}_${verbOf(method, parts.at(-1) === "{id}")}`;
}

function actionName(route: string, body: unknown): string | undefined {
  if (!route.endsWith("/action") || typeof body !== "object" || body === null) return undefined;
  return ACTIONS[Object.keys(body)[0] ?? ""];
}

function resourceOf(service: string, words: readonly string[], last: string): string {
  const word = singular(last);
  if (service === "load-balancer") return word === "loadbalancer" ? word : `loadbalancer_${word}`;
  // A tag, an action or a metadata key is named after what it belongs to.
  const owner = words.length > 1 ? words[0] : undefined;
  return owner === undefined ? word : `${singular(owner)}_${word}`;
}

function singular(plural: string): string {
  const known = WORDS[plural];
  if (known !== undefined) return known;
  const word = plural.replace(/^os-/, "").replaceAll(/[-.]/g, "_").toLowerCase();
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return word.endsWith("s") && !word.endsWith("ss") && !word.endsWith("status") ? word.slice(0, -1) : word;
}

function verbOf(method: string, one: boolean): string {
  if (method === "GET") return one ? "get" : "list";
  if (method === "POST") return "create";
  return method === "DELETE" ? "delete" : "update";
}
