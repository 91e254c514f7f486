import { MagnumCluster } from "@causeway/api";
import { addFinalizer, isNotFound, timestamp } from "@causeway/kubernetes";
import { enforce, isAdmin, scopeOf, type Answer, type Api, type Call } from "../call/call.ts";
import { nextLink, onlyParameters, pageOf, readPage, type Listed } from "../call/page.ts";
import { finalizer } from "../cluster/names.ts";
import { refusedSubnet } from "../cluster/networks.ts";
import { labelBounds } from "../cluster/scaling.ts";
import { forbidden, invalid, notFound } from "../wire/error.ts";
import { readBoolean, readFields, readValue, type Values } from "../wire/fields.ts";
import { applyPatch, readPatch } from "../wire/patch.ts";
import { clusterFields, defaultsOfCluster, newCluster, withoutEmpty } from "./cluster-body.ts";
import { clusterDetail, nodeCountOf, shownStatus } from "./cluster-view.ts";
import { asBadRequest, findCluster, requireIdle, requireNotMigrating, targetOf } from "./find-cluster.ts";
import { discardRow, finishRow, pendingRow } from "./new-row.ts";
import { changeNodes, requireNodes } from "./node-quota.ts";
import { quotaOf } from "./quotas.ts";
import { updatedAtOf, withReportedHealth, type ReportedHealth } from "./reported-health.ts";
import { cutReason } from "./reported-reason.ts";
import { bootsFromVolume, cloudNamesOf, findTemplate } from "./templates.ts";

const listed: Listed<MagnumCluster> = {
  id: ({ spec }) => spec.uuid,
  what: "Cluster",
  keys: {
    uuid: ({ spec }) => spec.uuid,
    name: ({ spec }) => spec.name,
    cluster_template_id: ({ spec }) => spec.templateUUID,
    status: (cluster) => shownStatus(cluster).status,
    health_status: ({ status }) => status?.health,
    node_count: (cluster) => nodeCountOf(cluster),
    master_count: ({ spec }) => spec.masterCount,
    keypair: ({ spec }) => spec.keypair,
    flavor_id: ({ spec }) => spec.flavorID,
    master_flavor_id: ({ spec }) => spec.masterFlavorID,
    docker_volume_size: ({ spec }) => spec.dockerVolumeSize,
    status_reason: (cluster) => shownStatus(cluster).reason,
    api_address: ({ status }) => status?.apiAddress,
    coe_version: ({ status }) => status?.coeVersion,
    container_version: ({ status }) => status?.containerVersion,
    discovery_url: ({ spec }) => spec.discoveryURL,
    fixed_network: ({ spec }) => spec.fixedNetwork,
    fixed_subnet: ({ spec }) => spec.fixedSubnet,
    floating_ip_enabled: ({ spec }) => spec.floatingIPEnabled,
    master_lb_enabled: ({ spec }) => spec.masterLBEnabled,
    create_timeout: ({ spec }) => spec.createTimeout,
    stack_id: ({ metadata }) => metadata.name,
    project_id: ({ spec }) => spec.projectID,
    user_id: ({ spec }) => spec.userID,
    created_at: ({ metadata }) => metadata.creationTimestamp,
    updated_at: (cluster) => updatedAtOf(cluster),
  },
};

/** GET clusters, and clusters/detail with `isDetail`. @throws MagnumError 400, 403, 404 */
export async function listClusters(api: Api, call: Call, isDetail = false): Promise<Answer> {
  enforce(api, call, isDetail ? "cluster:detail" : "cluster:get_all");
  const page = readPage(call.query);
  const project = scopeOf(api, call, `cluster:${isDetail ? "detail" : "get_all"}_all_projects`);
  const items = pageOf(api.store.clustersOf(project), page, listed);
  const path = isDetail ? "clusters/detail" : "clusters";
  const next = nextLink(
    call.origin,
    path,
    page,
    items.map(({ spec }) => spec.uuid),
  );
  const texts = items.map((one) => api.clusterTexts.of(one, call, isDetail));
  const more = next.next === undefined ? "" : `,"next":${JSON.stringify(next.next)}`;
  return { status: 200, json: `{"clusters":[${texts.join()}]${more}}` };
}

/** GET clusters/ID, by uuid or name. @throws MagnumError 403, 404, 409 */
export async function showCluster(api: Api, call: Call): Promise<Answer> {
  if (isAdmin(api, call)) enforce(api, call, "cluster:get_one_all_projects");
  const cluster = await findCluster(api, call, call.names["cluster"] ?? "");
  enforce(api, call, "cluster:get", targetOf(cluster));
  return { status: 200, body: clusterDetail(cluster, call) };
}

const zero = "Resizing a nodegroup to zero is not supported in the provided microversion.";

/** Before microversion 1.10 a cluster and a node group have a node at least. @throws MagnumError 400 */
export function refuseZero(call: Call, count: unknown): void {
  if (count === 0 && call.minor < 10) throw invalid(zero);
}

/**
 * POST clusters: checks everything that the request names, and the quotas, before a row is written. The response is 202
 * with
 * the uuid; the controller builds the cluster. @throws MagnumError 400, 403, 404, 409
 */
export async function createCluster(api: Api, call: Call): Promise<Answer> {
  const values = readFields(withoutEmpty(call.body), clusterFields, "cluster");
  refuseZero(call, values["node_count"]);
  enforce(api, call, "cluster:create");
  const { caller, signal } = call;
  const find = () => findTemplate(api, call, String(values["cluster_template_id"]));
  const template = await (call.minor < 10 ? asBadRequest(find) : find());
  if (template.spec.template.hidden && !isAdmin(api, call)) throw forbidden();
  const cluster = newCluster(api, call, values, template);
  const { flavorID, masterFlavorID, fixedNetwork, fixedSubnet, keypair, labels, template: base } = cluster.spec;
  const names = {
    flavorID,
    masterFlavorID,
    fixedNetwork,
    fixedSubnet,
    keypair,
    hasBootVolume: bootsFromVolume(labels),
  };
  const { fixed } = await api.cloud.check(caller.token, { ...cloudNamesOf(base), ...names }, signal);
  const unfit = fixed && refusedSubnet(labels ?? {}, fixed);
  if (unfit !== undefined) throw invalid(unfit);
  // Creates of a project come one after the other, so that two together do not exceed the quota.
  const made = await api.inTurn(caller.projectId, async () => {
    const limit = quotaOf(api, caller.projectId);
    if (api.store.countOf(caller.projectId) >= limit) throw quotaReached(limit);
    requireNodes(api, undefined, cluster);
    const row = pendingRow(cluster, timestamp(api.clock.now()));
    const created = await api.store.create(MagnumCluster, row, caller.projectId, signal);
    // Another process may have created one that this one had not read: who sees too many gives its own up.
    if ((await api.store.freshCountOf(MagnumCluster, created, signal)) <= limit) return created;
    await discardRow(api.store.client, created);
    throw quotaReached(limit);
  });
  return accepted(await finishRow(api, call, made));
}

const quotaReached = (limit: number) =>
  forbidden(
    `Resource limit exceeded: You have reached the maximum clusters per project, ${limit}. You may delete a cluster to make room for a new one.`,
  );

/** The response to a change of a cluster that the controller makes later: 202 with the uuid only, as Magnum's. */
export const accepted = ({ spec }: MagnumCluster): Answer => ({ status: 202, body: { uuid: spec.uuid } });

const internal = [
  "/api_address",
  "/node_addresses",
  "/master_addresses",
  "/stack_id",
  "/cluster_id",
  "/ca_cert_ref",
  "/magnum_cert_ref",
  "/etcd_ca_cert_ref",
  "/front_proxy_ca_cert_ref",
];
const mutable = ["node_count", "health_status", "health_status_reason"];

/**
 * PATCH clusters/ID: the number of nodes, and the health that a program outside reports. Other attributes are
 * immutable.
 * @throws MagnumError 400, 403, 404, 409
 */
export async function patchCluster(api: Api, call: Call): Promise<Answer> {
  onlyParameters(call.query, call.minor >= 3 ? ["rollback"] : []);
  const rollback = call.query.get("rollback");
  if (rollback !== null) readBoolean("rollback", rollback);
  const patch = readPatch(call.body, { internal, mandatory: ["/cluster_template_id"] });
  if (isAdmin(api, call)) enforce(api, call, "cluster:update_all_projects");
  const cluster = await findCluster(api, call, call.names["cluster"] ?? "");
  enforce(api, call, "cluster:update", targetOf(cluster));
  if (patch.some(({ path }) => path.startsWith("/health_status"))) enforce(api, call, "cluster:update_health_status");
  requireNotMigrating(cluster);
  const document = patchDocument(cluster);
  const after = withDefaults(applyPatch(document, patch));
  const changed = Object.keys(document).filter(
    (name) =>
      JSON.stringify(document[name]) !== JSON.stringify(after[name]) && !isSameNumber(document[name], after[name]),
  );
  const refused = changed.filter((name) => !mutable.includes(name));
  if (refused.length > 0) throw invalid(`cannot change cluster property(ies) ${refused.join(", ")}.`);
  const hasCount = patch.some(({ path }) => path === "/node_count");
  const values = readCounts(after);
  if (hasCount) refuseZero(call, values.nodeCount);
  if (hasCount && isResize(cluster, values.nodeCount)) requireIdle(cluster, ["UPDATE_FAILED"]);
  const updated = await changeNodes(
    api,
    cluster,
    (current) =>
      withChanges(
        current,
        {
          ...(hasCount ? { nodeCount: values.nodeCount } : {}),
          health: changed.some((name) => name !== "node_count") ? values.health : undefined,
        },
        timestamp(api.clock.now()),
      ),
    call.signal,
  );
  return accepted(updated);
}

function isSameNumber(before: unknown, after: unknown): boolean {
  return typeof before === "number" && typeof after === "string" && Number(after) === before;
}

function patchDocument(cluster: MagnumCluster): Values {
  const view = clusterDetail(cluster, { origin: "", minor: 1 });
  const { links: _, labels_overridden: __, labels_added: ___, labels_skipped: ____, faults: _____, ...document } = view;
  return { ...document, node_count: defaultGroup(cluster)?.nodeCount ?? 0 };
}

/** What is removed has the value that a new cluster without it has. */
function withDefaults(document: Values): Values {
  const given = Object.entries(document).filter(([, value]) => value !== null);
  return { ...document, ...defaultsOfCluster, ...Object.fromEntries(given) };
}

type Group = MagnumCluster["spec"]["nodeGroups"][number];

const defaultGroup = ({ spec }: MagnumCluster) => spec.nodeGroups.find(({ isDefault }) => isDefault);

interface Counts {
  readonly nodeCount: number;
  readonly health: ReportedHealth;
}

function readCounts(after: Values): Counts {
  const around = { argument: "patch", body: after };
  const nodeCount = readValue("node_count", after["node_count"], {
    ...around,
    field: { type: "int", min: 0, max: 10_000 },
  });
  const status = after["health_status"];
  const verdict =
    status === null
      ? undefined
      : readValue("health_status", status, {
          ...around,
          field: { type: "text", oneOf: ["HEALTHY", "UNHEALTHY", "UNKNOWN"] },
        });
  const reason = after["health_status_reason"];
  const found =
    reason === null ? undefined : readValue("health_status_reason", reason, { ...around, field: { type: "labels" } });
  const health = {
    ...(verdict === undefined ? {} : { status: verdict }),
    ...(found === undefined ? {} : { reason: cutReason(found as Readonly<Record<string, string>>) }),
  };
  return { nodeCount: nodeCount as number, health: health as ReportedHealth };
}

interface Changes {
  readonly nodeCount?: number;
  readonly health: ReportedHealth | undefined;
}

/** Whether this is another number of nodes than was requested last. An autoscaler may have another one than that. */
function isResize(cluster: MagnumCluster, nodeCount: number): boolean {
  const group = defaultGroup(cluster);
  return group !== undefined && (nodeCount !== group.nodeCount || isScaled(cluster, group));
}

const isScaled = ({ spec }: MagnumCluster, { labels }: Group): boolean =>
  labelBounds(labels ?? spec.labels ?? {}) !== undefined;

/** The same object where nothing changes. Health alone is no change of the cluster, which has no operation then. */
function withChanges(cluster: MagnumCluster, { nodeCount, health }: Changes, now: string): MagnumCluster {
  const group = defaultGroup(cluster);
  if (nodeCount !== undefined && group !== undefined) requireBounds(group, nodeCount, isScaled(cluster, group));
  const reported = health === undefined ? cluster : withReportedHealth(cluster, health, now);
  if (nodeCount === undefined || !isResize(cluster, nodeCount)) return reported;
  const nodeGroups = cluster.spec.nodeGroups.map((each) =>
    each.isDefault ? { ...each, nodeCount, resizedAt: now, updatedAt: now, nodesToRemove: [] } : each,
  );
  return { ...reported, spec: { ...cluster.spec, nodeGroups, updatedAt: now } };
}

/** Only where an autoscaler decides do the bounds hold for a change of the whole cluster, as upstream has it. */
function requireBounds(
  group: { readonly name: string; readonly minNodeCount: number; readonly maxNodeCount?: number },
  count: number,
  hasAutoscaler: boolean,
): void {
  if (!hasAutoscaler) return;
  if (count < group.minNodeCount || count > (group.maxNodeCount ?? count))
    throw invalid(
      `node_count ${count} is out of the bounds of the autoscaler for ${group.name}: ${group.minNodeCount} to ${group.maxNodeCount ?? "any"}.`,
    );
}

/**
 * DELETE clusters/ID: the row is marked as deleted (204), and the controller deletes what belongs to it.
 * @throws MagnumError 400, 403, 404, 409
 */
export async function deleteCluster(api: Api, call: Call): Promise<Answer> {
  onlyParameters(call.query, []);
  if (isAdmin(api, call)) enforce(api, call, "cluster:delete_all_projects");
  const cluster = await findCluster(api, call, call.names["cluster"] ?? "");
  enforce(api, call, "cluster:delete", targetOf(cluster));
  requireNotMigrating(cluster);
  await api.store.remove(api.store.clusters, await held(api, cluster, call.signal), call.signal);
  return { status: 204 };
}

/**
 * The row with its finalizer, which those of releases before and of a migration have once a controller has seen them: a
 * deletion while none runs would leave the credential. @throws MagnumError 404
 */
async function held(api: Api, cluster: MagnumCluster, signal: AbortSignal): Promise<MagnumCluster> {
  try {
    return await addFinalizer(api.store.client, MagnumCluster, cluster, { finalizer, signal });
  } catch (error) {
    throw isNotFound(error) ? notFound("Cluster", cluster.spec.uuid) : error;
  }
}
