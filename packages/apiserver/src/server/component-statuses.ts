import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { at, text, type Json } from "../json/json.ts";
import type { Call } from "../contract/call.ts";
import { selectionOf } from "../registry/list.ts";
import { metadataOnly, table, type TableOptions } from "../tables/table.ts";
import { refuseWrongNumber } from "./negotiate.ts";
import { isTrue } from "../contract/request-info.ts";
import { apiError, noSuchResource, notFound } from "../errors/status.ts";
import type { ResourceRequest } from "./resource-request.ts";

/** What kube-apiserver calls its first database. */
const STORE = "etcd-0";
/** Components that elect a leader: by their name here, the Lease of kube-system that the leader holds. */
const ELECTED: Readonly<Record<string, string>> = {
  "controller-manager": "kube-controller-manager",
  scheduler: "kube-scheduler",
};
const NAMES = ["controller-manager", "scheduler", STORE];
/** kube-apiserver calls the resource so where it is not found. */
const NOT_FOUND_KIND = { group: "", plural: "componentstatus" };

/** Whether a request is for componentstatuses: a kind that is not stored but computed for each request. */
export function isComponentStatus({ resource }: Pick<Call, "resource">): boolean {
  return resource.kind === "ComponentStatus" && resource.group === "" && !resource.custom;
}

/** What is said of a watch: at its old path there is none. */
export function unwatchable({ info, query, served }: ResourceRequest): Error {
  const { plural } = served.resource;
  if (!isTrue(query.get("watch")) || info.path.includes("/watch/")) return noSuchResource();
  const message = `watch is not supported on resources of kind "${plural}"`;
  return apiError(405, "MethodNotAllowed", message, { kind: plural });
}

/**
 * The state of the components: the database by whether it takes writes, the others by their Leases. kube-apiserver asks
 * each at a port of its own machine, which says nothing about a cluster that shares the machine with others; so a
 * component without election counts as absent. Throws 400, 404.
 */
export function componentStatuses(call: Call, request: ResourceRequest, options: () => TableOptions): unknown {
  const { wanted, query, cluster } = request;
  const isList = call.name === "";
  if (!isList && !NAMES.includes(call.name)) throw notFound(NOT_FOUND_KIND, call.name);
  const selection = selectionOf(call, query);
  const found = NAMES.map((name) => statusOf(cluster, name)).filter((status) => selection.matches(status));
  if (wanted.table) return table(found, {}, options());
  if (wanted.metadataOnly) refuseWrongNumber(wanted.accept, { ...call.resource, isList });
  const shown = wanted.metadataOnly ? found.map(metadataOnly) : found;
  if (!isList) return shown[0];
  const items = shown.map(({ kind: _kind, apiVersion: _version, ...item }) => item);
  const type = wanted.metadataOnly
    ? { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1" }
    : { kind: "ComponentStatusList", apiVersion: "v1" };
  return { ...type, metadata: {}, items };
}

function statusOf(cluster: Cluster, name: string): KubeObject & Json {
  const healthy = name === STORE ? storeHealth(cluster) : electedHealth(cluster, ELECTED[name] ?? "");
  const conditions = [{ type: "Healthy", ...healthy }];
  return { kind: "ComponentStatus", apiVersion: "v1", metadata: { name }, conditions };
}

/** Which disk it is, and where, is the operator's to know. */
function storeHealth({ problems }: Cluster): Json {
  const isFull = problems.all.some(({ check }) => check === "disk");
  return isFull ? { status: "False", error: "the database takes no writes" } : { status: "True", message: "ok" };
}

function electedHealth({ name: cluster, store, clock }: Cluster, lease: string): Json {
  const resource = "coordination.k8s.io/leases";
  const spec = at(store.get({ cluster, resource, namespace: "kube-system", name: lease })?.object, "spec");
  const holder = text(at(spec, "holderIdentity"));
  const renewed = Date.parse(text(at(spec, "renewTime")));
  const seconds = Number(at(spec, "leaseDurationSeconds") ?? 0);
  const isHeld = holder !== "" && clock.now() < renewed + seconds * 1000;
  if (isHeld) return { status: "True", message: "ok" };
  return { status: "False", message: `no leader holds the Lease kube-system/${lease}` };
}
