import { timestamp } from "@causeway/kubernetes";
import { enforce, instant, isAdmin, type Answer, type Api, type Call } from "../call/call.ts";
import { onlyParameters, readPage } from "../call/page.ts";
import { forbidden, invalid, notFound } from "../wire/error.ts";
import { nodeCountOf } from "./cluster-view.ts";

/**
 * GET stats: numbers of clusters and nodes (masters included) of a project, or of all for an administrator.
 * @throws MagnumError 400, 403
 */
export async function showStats(api: Api, call: Call): Promise<Answer> {
  onlyParameters(call.query, ["project_id", "type"]);
  enforce(api, call, "stats:get_all");
  if ((call.query.get("type") ?? "cluster").toLowerCase() !== "cluster")
    throw invalid("Invalid stats type. Allowed values are 'cluster'");
  const given = call.query.get("project_id");
  const admin = isAdmin(api, call);
  const project = given === null || given === "" ? (admin ? undefined : call.caller.projectId) : given;
  if (!admin && project !== call.caller.projectId) throw forbidden();
  const clusters = api.store.clustersOf(project);
  const nodes = clusters.reduce((sum, cluster) => sum + nodeCountOf(cluster) + cluster.spec.masterCount, 0);
  return { status: 200, body: { clusters: clusters.length, nodes } };
}

/** This process: what it does for clusters is what Magnum's conductors do. */
export async function listServices(api: Api, call: Call): Promise<Answer> {
  enforce(api, call, "magnum-service:get_all");
  const now = api.clock.now();
  const service = {
    host: api.host,
    binary: "magnum-conductor",
    state: "up",
    id: 1,
    // The first report is that of the start.
    report_count: 1 + Math.floor((now - api.started) / 60_000),
    disabled: false,
    disabled_reason: null,
    created_at: instant(timestamp(api.started)),
    updated_at: instant(timestamp(now)),
  };
  return { status: 200, body: { mservices: [service] } };
}

/** No driver of Magnum ever had federations: there are none. */
export async function listFederations(api: Api, call: Call, isDetail = false): Promise<Answer> {
  enforce(api, call, isDetail ? "federation:detail" : "federation:get_all");
  readPage(call.query);
  return { status: 200, body: { federations: [] } };
}

/** Responds 404 for each federation: there are none. */
export async function showFederation(_api: Api, call: Call): Promise<Answer> {
  throw notFound("Federation", (call.names["federation"] ?? "").slice(0, 300));
}

/** Responds 400, or 403 to a caller who may not create federations. */
export async function createFederation(api: Api, call: Call): Promise<Answer> {
  enforce(api, call, "federation:create");
  throw invalid("Federations are not supported.");
}
