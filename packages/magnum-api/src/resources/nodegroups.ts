import { MagnumCluster, type MagnumNodeGroup } from "@causeway/api";
import { keyOf, timestamp } from "@causeway/kubernetes";
import { refusedLabel } from "../cluster/labels.ts";
import { relabelled } from "../cluster/node-labels.ts";
import { enforce, isAdmin, type Answer, type Api, type Call } from "../call/call.ts";
import { nextLink, pageOf, readPage } from "../call/page.ts";
import { conflict, invalid } from "../wire/error.ts";
import { readFields, type Fields, type Values } from "../wire/fields.ts";
import { isLabelValue, isQualifiedName } from "../wire/kubernetes-names.ts";
import { applyPatch, readPatch } from "../wire/patch.ts";
import type { NodeTaint } from "../wire/taints.ts";
import { changeGroup, groupFor, requireKept } from "./actions.ts";
import { refuseZero } from "./clusters.ts";
import { shownStatus } from "./cluster-view.ts";
import { findCluster, requireIdle } from "./find-cluster.ts";
import { changeNodes } from "./node-quota.ts";
import { groupView } from "./nodegroup-view.ts";
import { bootsFromVolume } from "./templates.ts";

const name = { type: "text", min: 1, max: 255 } as const;
const given = { type: "text", readonly: true } as const;
const MOST_GROUPS = 100;

const groupFields: Fields = {
  ...Object.fromEntries(
    [
      "id",
      "uuid",
      "cluster_id",
      "project_id",
      "links",
      "node_addresses",
      "is_default",
      "stack_id",
      "status",
      "status_reason",
      "version",
      "labels_overridden",
      "labels_added",
      "labels_skipped",
      "created_at",
      "updated_at",
    ].map((each) => [each, given]),
  ),
  name,
  docker_volume_size: { type: "int", min: 1 },
  labels: { type: "labels" },
  flavor_id: name,
  image_id: name,
  node_count: { type: "int", min: 0, max: 10_000 },
  role: name,
  min_node_count: { type: "int", min: 0 },
  max_node_count: { type: "int", min: 0 },
  merge_labels: { type: "bool" },
  node_labels: { type: "labels" },
  node_taints: { type: "taints" },
};

const invalidGroup = (attribute: string, group: string, why: string) =>
  conflict(`${attribute} is invalid for nodegroup ${group}: ${why}.`);

/**
 * GET clusters/ID/nodegroups: default-master first, then the others in the order of creation; `role` filters.
 * @throws MagnumError 400, 403, 404, 409
 */
export async function listGroups(api: Api, call: Call): Promise<Answer> {
  enforce(api, call, "nodegroup:get_all");
  if (isAdmin(api, call)) enforce(api, call, "nodegroup:get_all_all_projects");
  const page = readPage(call.query, ["role"]);
  const cluster = await findCluster(api, call, call.names["cluster"] ?? "");
  const role = call.query.get("role");
  const all = (["master", ...cluster.spec.nodeGroups] as const).map((group) => groupView(cluster, group, call).summary);
  const wanted = all.map((view, at) => ({ view, at })).filter(({ view }) => role === null || view["role"] === role);
  const keys = Object.fromEntries(
    ["uuid", "name", "role", "node_count", "status"].map((key) => [
      key,
      ({ view }: (typeof wanted)[number]) => view[key] as string | number,
    ]),
  );
  // Ids follow the order of creation; the control plane's comes first.
  const items = pageOf(wanted, page, { id: ({ view }) => String(view["uuid"]), keys, what: "Nodegroup" });
  const next = nextLink(
    call.origin,
    `clusters/${cluster.spec.uuid}/nodegroups`,
    page,
    items.map(({ view }) => view["uuid"] as string),
  );
  return { status: 200, body: { nodegroups: items.map(({ view }) => view), ...next } };
}

/** GET clusters/ID/nodegroups/GROUP, by uuid or name. @throws MagnumError 403, 404, 409 */
export async function showGroup(api: Api, call: Call): Promise<Answer> {
  enforce(api, call, "nodegroup:get");
  if (isAdmin(api, call)) enforce(api, call, "nodegroup:get_one_all_projects");
  const cluster = await findCluster(api, call, call.names["cluster"] ?? "");
  return { status: 200, body: groupView(cluster, groupFor(cluster, call.names["group"]), call).detail };
}

/**
 * POST clusters/ID/nodegroups: at most 100 in a cluster, and only once its API has an address.
 * @throws MagnumError 400, 403, 404, 409
 */
export async function createGroup(api: Api, call: Call): Promise<Answer> {
  const values = readFields(call.body, call.minor >= 14 ? groupFields : withoutNodeFields, "nodegroup");
  refuseZero(call, values["node_count"]);
  enforce(api, call, "nodegroup:create");
  const cluster = await findCluster(api, call, call.names["cluster"] ?? "");
  if (cluster.status?.apiAddress === undefined) throw conflict("Cluster API address is not available yet");
  const group = newGroup(api, cluster, values);
  requireIdle(cluster, ["UPDATE_IN_PROGRESS", "UPDATE_FAILED"]);
  const { imageID, flavorID, labels } = group;
  await api.cloud.check(call.caller.token, { imageID, flavorID, hasBootVolume: bootsFromVolume(labels) }, call.signal);
  const changed = await changeNodes(
    api,
    cluster,
    (current) => {
      const { nodeGroups } = current.spec;
      if (group.name === "default-master" || nodeGroups.some(({ name: each }) => each === group.name))
        throw conflict(`A node group with name ${group.name} already exists in the cluster ${cluster.spec.name}.`);
      if (nodeGroups.length >= MOST_GROUPS) throw conflict(`A cluster has at most ${MOST_GROUPS} node groups.`);
      return {
        ...current,
        spec: { ...current.spec, nodeGroups: [...nodeGroups, group], updatedAt: timestamp(api.clock.now()) },
      };
    },
    call.signal,
  );
  return { status: 202, body: groupView(changed, group, call).detail };
}

const { node_labels: _labels, node_taints: _taints, ...withoutNodeFields } = groupFields;

function newGroup(api: Api, { spec }: MagnumCluster, values: Values): MagnumNodeGroup {
  const own = values["labels"] as Readonly<Record<string, string>> | undefined;
  const labels =
    own === undefined ? (spec.labels ?? {}) : values["merge_labels"] === true ? { ...spec.labels, ...own } : own;
  const role = (values["role"] as string | undefined) ?? "worker";
  if (role === "master") throw invalid("Creating master nodegroups is currently not supported.");
  const refused = refusedLabel(labels, api.support);
  if (refused !== undefined) throw invalid(refused);
  const uuid = api.newId();
  const optional = {
    flavorID: values["flavor_id"] ?? spec.flavorID,
    maxNodeCount: values["max_node_count"] || undefined,
    dockerVolumeSize: values["docker_volume_size"],
    nodeLabels: values["node_labels"],
    nodeTaints: values["node_taints"],
  } as Partial<MagnumNodeGroup>;
  const checked: MagnumNodeGroup = {
    uuid,
    name: (values["name"] as string | undefined) ?? `group-${uuid.slice(-6)}`,
    role,
    isDefault: false,
    imageID: (values["image_id"] as string | undefined) ?? spec.template.imageID,
    nodeCount: (values["node_count"] as number | undefined) ?? 1,
    minNodeCount: (values["min_node_count"] as number | undefined) ?? 0,
    labels,
    version: spec.version,
    createdAt: timestamp(api.clock.now()),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
  requireCounts(checked);
  requireLabels(checked);
  return checked;
}

function requireCounts({ name: group, nodeCount, minNodeCount: min, maxNodeCount: max }: MagnumNodeGroup): void {
  if (max !== undefined && min > max)
    throw invalidGroup(
      "max_node_count",
      group,
      `min_node_count (${min}) should be less or equal to max_node_count (${max})`,
    );
  if (max !== undefined && nodeCount > max)
    throw invalidGroup(
      "max_node_count",
      group,
      `node_count (${nodeCount}) should be less or equal to max_node_count (${max})`,
    );
  if (min > nodeCount)
    throw invalidGroup(
      "min_node_count",
      group,
      `min_node_count (${min}) should be less or equal to node_count (${nodeCount})`,
    );
}

const allowedPrefixes = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const allowedLabels = [
  "beta.kubernetes.io/arch",
  "beta.kubernetes.io/instance-type",
  "beta.kubernetes.io/os",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "kubernetes.io/arch",
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "node.kubernetes.io/instance-type",
  "node.kubernetes.io/windows-build",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
];

/** A group's labels are copied to each of its Machines. */
const MOST_LABELS = 64;
const LARGEST_LABELS = 8192;

/** Refuses labels that the kubelet would refuse to set on its own Node, and texts that are no labels. */
function requireLabels({ name: group, nodeLabels = {} }: MagnumNodeGroup): void {
  const size = Object.entries(nodeLabels).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (Object.keys(nodeLabels).length > MOST_LABELS || size > LARGEST_LABELS)
    throw invalidGroup(
      "node_labels",
      group,
      `a node group has at most ${MOST_LABELS} node labels, of ${LARGEST_LABELS} characters together; remove some`,
    );
  for (const [key, value] of Object.entries(nodeLabels)) {
    const [prefix = ""] = key.includes("/") ? key.split("/", 1) : [];
    const isReserved = /(^|\.)(kubernetes|k8s)\.io$/.test(prefix);
    if (isReserved && !allowedPrefixes.includes(prefix) && !allowedLabels.includes(key))
      throw invalidGroup(
        "node_labels",
        group,
        `node label '${key}' is in a restricted Kubernetes namespace; the kubelet will refuse to start`,
      );
    if (!isQualifiedName(key) || !isLabelValue(value))
      throw invalidGroup("node_labels", group, `'${key}=${value}' is not a label of Kubernetes`);
  }
}

const fixed = [
  "/name",
  "/cluster_id",
  "/project_id",
  "/docker_volume_size",
  "/labels",
  "/flavor_id",
  "/image_id",
  "/node_addresses",
  "/node_count",
  "/role",
  "/is_default",
  "/stack_id",
  "/status",
  "/status_reason",
  "/version",
];

/**
 * PATCH clusters/ID/nodegroups/GROUP: the bounds, and from microversion 1.14 labels and taints of nodes.
 * @throws MagnumError 400, 403, 404, 409
 */
export async function patchGroup(api: Api, call: Call): Promise<Answer> {
  const patch = readPatch(call.body, { internal: fixed, mandatory: [] });
  enforce(api, call, "nodegroup:update");
  const cluster = await findCluster(api, call, call.names["cluster"] ?? "");
  const group = groupFor(cluster, call.names["group"]);
  if (group === "master")
    throw invalid("The bounds of the master nodegroup cannot be changed: no autoscaler resizes it.");
  requireKept(group);
  requireIdle(cluster, ["UPDATE_IN_PROGRESS", "UPDATE_FAILED"]);
  const now = timestamp(api.clock.now());
  const changed = await changeGroup(api, call, { cluster, uuid: group.uuid }, (current) => {
    const document = {
      min_node_count: current.minNodeCount,
      max_node_count: current.maxNodeCount ?? null,
      ...(call.minor >= 14 ? { node_labels: current.nodeLabels ?? {}, node_taints: current.nodeTaints ?? [] } : {}),
    };
    const values = readFields(applyPatch(document, patch), groupFields, "nodegroup");
    const { maxNodeCount: _, ...rest } = current;
    const max = values["max_node_count"] as number | undefined;
    const labels = (values["node_labels"] ?? {}) as Record<string, string>;
    const next: MagnumNodeGroup = {
      ...(call.minor >= 14 ? relabelled(rest, labels) : rest),
      minNodeCount: (values["min_node_count"] as number | undefined) ?? 0,
      ...(max === undefined || max === 0 ? {} : { maxNodeCount: max }),
      ...(call.minor >= 14
        ? {
            nodeTaints: (values["node_taints"] ?? []) as NodeTaint[],
          }
        : {}),
      updatedAt: now,
    };
    requireCounts(next);
    requireLabels(next);
    return next;
  });
  return { status: 202, body: groupView(changed, groupFor(changed, group.uuid), call).detail };
}

/**
 * DELETE clusters/ID/nodegroups/GROUP: the controller deletes its machines, and then the group. Default groups are
 * refused.
 * @throws MagnumError 400, 403, 404, 409
 */
export async function deleteGroup(api: Api, call: Call): Promise<Answer> {
  enforce(api, call, "nodegroup:delete");
  const cluster = await findCluster(api, call, call.names["cluster"] ?? "");
  const group = groupFor(cluster, call.names["group"]);
  if (group === "master" || group.isDefault) throw invalid("Deleting a default nodegroup is not supported.");
  requireIdle(cluster, ["UPDATE_IN_PROGRESS", "UPDATE_FAILED"]);
  // A second request changes nothing while the first one is worked on.
  if (group.deletedAt !== undefined && shownStatus(cluster).status !== "UPDATE_FAILED") return { status: 204 };
  const now = timestamp(api.clock.now());
  await api.store.change(
    MagnumCluster,
    keyOf(cluster),
    (current) => ({
      ...current,
      spec: {
        ...current.spec,
        nodeGroups: current.spec.nodeGroups.map((each) =>
          each.uuid === group.uuid ? { ...each, deletedAt: now } : each,
        ),
        updatedAt: now,
      },
    }),
    call.signal,
  );
  return { status: 204 };
}
