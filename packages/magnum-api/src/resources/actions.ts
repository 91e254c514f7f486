import type { Machine, MagnumCluster, MagnumNodeGroup, MagnumTemplateAttributes } from "@causeway/api";
import { keyOf, timestamp } from "@causeway/kubernetes";
import { runtimeOf } from "../cluster/desired.ts";
import { machinesOf } from "../cluster/gather.ts";
import { keyOfCluster, magnumLabels, poolNameOf } from "../cluster/names.ts";
import { scalingBounds } from "../cluster/scaling.ts";
import { enforce, isAdmin, type Answer, type Api, type Call } from "../call/call.ts";
import { conflict, invalid, MagnumError, notFound, unrouted } from "../wire/error.ts";
import { readFields, type Fields } from "../wire/fields.ts";
import { requireTls, versionOf, wantedVersion } from "./cluster-body.ts";
import { accepted } from "./clusters.ts";
import { findCluster, requireIdle, targetOf } from "./find-cluster.ts";
import { resizeMasters } from "./masters.ts";
import { changeNodes } from "./node-quota.ts";
import { findTemplate } from "./templates.ts";

const resizeFields: Fields = {
  node_count: { type: "int", min: 0, max: 10_000, mandatory: true },
  nodes_to_remove: { type: "texts" },
  nodegroup: { type: "text", min: 1, max: 255 },
};

/**
 * POST clusters/ID/actions/resize, from microversion 1.7. A node group keeps its bounds; default-master changes the
 * number of
 * API servers. @throws MagnumError 400, 403, 404, 409
 */
export async function resizeCluster(api: Api, call: Call): Promise<Answer> {
  requireMinor(call, 7, "resize");
  const values = readFields(call.body, resizeFields, "cluster_resize_req");
  const count = values["node_count"] as number;
  if (count === 0 && call.minor < 10) throw invalid("Cluster node_count cannot be zero before microversion 1.10.");
  // Magnum's resize knows the clusters of the caller's project alone.
  const cluster = await findCluster(api, call, call.names["cluster"] ?? "", { prefersOwn: true });
  enforce(api, call, "cluster:resize", targetOf(cluster));
  const group = groupFor(cluster, values["nodegroup"] as string | undefined);
  const wanted = (values["nodes_to_remove"] as readonly string[] | undefined) ?? [];
  if (group === "master") return resizeMasters(api, call, cluster, { count, named: wanted.length });
  requireIdle(cluster, ["UPDATE_FAILED", "UPDATE_IN_PROGRESS"], "Resizing");
  requireKept(group);
  const { minNodeCount, maxNodeCount } = group;
  if (count < minNodeCount || (maxNodeCount !== undefined && maxNodeCount > 0 && count > maxNodeCount))
    throw outOfBounds(group);
  const machines = machinesOf(api.store.sources, keyOfCluster(cluster)).filter(
    ({ metadata }) => metadata.labels?.[magnumLabels.nodeGroup] === group.uuid,
  );
  const named = machinesNamed(wanted, machines);
  const refused = refusedRemovals(named.length, currentCount(api, cluster, group), count);
  if (refused !== undefined) throw invalid(refused);
  const now = timestamp(api.clock.now());
  const left = machines.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const present = left.map(({ metadata }) => metadata.name);
  const changed = await changeGroup(api, call, { cluster, uuid: group.uuid }, (each) => ({
    ...each,
    nodeCount: count,
    nodesToRemove: removalsOf(each, { count, named, present }),
    resizedAt: now,
    updatedAt: now,
  }));
  return accepted(changed);
}

/** The number of nodes that a group is to have now: where an autoscaler decides, the one that it wants. */
function currentCount(api: Api, cluster: MagnumCluster, group: MagnumNodeGroup): number {
  if (scalingBounds(group, cluster.spec.labels ?? {}) === undefined) return group.nodeCount;
  const name = poolNameOf(cluster.metadata.name, group);
  const pool = api.store.sources.deployments.get({ ...keyOfCluster(cluster), name });
  return pool?.spec.replicas ?? group.nodeCount;
}

/** Why so many nodes cannot be named when a group goes from one number of nodes to another; undefined: they can. */
export function refusedRemovals(named: number, from: number, to: number): string | undefined {
  const removed = Math.max(0, from - to);
  return named <= removed
    ? undefined
    : `nodes_to_remove names ${named} nodes, but node_count ${to} removes ${removed} of ${from}.`;
}

/**
 * The nodes that go first. Those of an earlier request that are still there remain named while the group becomes
 * smaller still, as far as they and the newly named ones are not more than are to go.
 */
export function removalsOf(
  before: Pick<MagnumNodeGroup, "nodeCount" | "nodesToRemove">,
  next: { readonly count: number; readonly named: readonly string[]; readonly present: readonly string[] },
): string[] {
  const { count, named, present } = next;
  if (count >= before.nodeCount) return [...named];
  const room = Math.max(0, present.length - count - named.length);
  const earlier = (before.nodesToRemove ?? []).filter((name) => present.includes(name) && !named.includes(name));
  return [...named, ...earlier.slice(0, room)];
}

const outOfBounds = ({ name, minNodeCount, maxNodeCount }: MagnumNodeGroup) =>
  invalid(
    `Resizing ${name} outside the allowed bounds: min_node_count = ${minNodeCount}, max_node_count = ${maxNodeCount ?? "None"}`,
  );

function requireMinor({ minor }: Call, from: number, action: string): void {
  if (minor < from)
    throw unrouted(
      406,
      "Not Acceptable",
      `Version 1.${minor} was requested but the requested API ${action} is not supported for this version.`,
    );
}

/** The group of a request; "master": default-master. @throws MagnumError 404 */
export function groupFor(cluster: MagnumCluster, ident: string | undefined): MagnumNodeGroup | "master" {
  const { nodeGroups, masterUUID } = cluster.spec;
  if (ident === "default-master" || ident === masterUUID) return "master";
  const found = nodeGroups.find(({ uuid, name, isDefault }) =>
    ident === undefined ? isDefault : uuid === ident || name === ident,
  );
  if (found === undefined) throw notFound("Nodegroup", (ident ?? "default-worker").slice(0, 300));
  return found;
}

/** Refuses a change of a node group that is being deleted, as Magnum does. @throws MagnumError 400 */
export function requireKept({ name, deletedAt }: MagnumNodeGroup): void {
  if (deletedAt !== undefined) throw invalid(`Nodegroup ${name} is being deleted (DELETE_IN_PROGRESS).`);
}

/**
 * The Machines that a client means, each once: by the server's id, the names of Machine or Node, or the place in the
 * order of names. @throws MagnumError 400
 */
export function machinesNamed(nodes: readonly string[], machines: readonly Machine[]): string[] {
  const sorted = machines.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const found = [...new Set(nodes)].map((node) => {
    const machine =
      sorted.find(
        ({ metadata, spec, status }) =>
          metadata.name === node || status?.nodeRef?.name === node || (spec.providerID ?? "").endsWith(`/${node}`),
      ) ?? (/^\d{1,4}$/.test(node) ? sorted[Number(node)] : undefined);
    if (machine !== undefined) return machine.metadata.name;
    throw invalid(`nodes_to_remove: there is no node ${node.slice(0, 100)} in the node group.`);
  });
  return [...new Set(found)];
}

/**
 * Changes one node group of a cluster; nothing if it went away meanwhile. @throws MagnumError 400 if its deletion was
 * requested meanwhile
 */
export function changeGroup(
  api: Api,
  { signal }: Call,
  { cluster, uuid }: { readonly cluster: MagnumCluster; readonly uuid: string },
  change: (group: MagnumNodeGroup) => MagnumNodeGroup,
): Promise<MagnumCluster> {
  return changeNodes(
    api,
    cluster,
    (current) => {
      const nodeGroups = current.spec.nodeGroups.map((each) => {
        if (each.uuid !== uuid) return each;
        requireKept(each);
        return change(each);
      });
      return { ...current, spec: { ...current.spec, nodeGroups, updatedAt: timestamp(api.clock.now()) } };
    },
    signal,
  );
}

const upgradeFields: Fields = {
  max_batch_size: { type: "int", min: 1, max: 1_000 },
  nodegroup: { type: "text", min: 1, max: 255 },
  cluster_template: { type: "text", min: 1, max: 255 },
};

/**
 * POST clusters/ID/actions/upgrade, from microversion 1.8: the version of another template, for the cluster or for one
 * of its
 * node groups. @throws MagnumError 400, 403, 404, 409
 */
export async function upgradeCluster(api: Api, call: Call): Promise<Answer> {
  requireMinor(call, 7, "upgrade");
  const values = readFields(call.body, upgradeFields, "cluster_upgrade_req");
  if (call.minor < 8) throw invalid("Cluster upgrade is not supported before microversion 1.8.");
  if (isAdmin(api, call)) enforce(api, call, "cluster:upgrade_all_projects");
  const cluster = await findCluster(api, call, call.names["cluster"] ?? "");
  enforce(api, call, "cluster:upgrade", targetOf(cluster));
  const template = await findTemplate(api, call, (values["cluster_template"] as string | undefined) ?? "");
  const group = groupFor(cluster, values["nodegroup"] as string | undefined);
  if (group !== "master" && !group.isDefault && template.spec.uuid !== cluster.spec.templateUUID)
    throw conflict(
      `Cluster Template is not valid for upgrade: Nodegroup ${group.name} can be upgraded only to match cluster's template (${cluster.spec.templateUUID}).`,
    );
  if (group !== "master") requireKept(group);
  requireIdle(cluster, [], "Upgrading");
  requireTls(template);
  const { template: attributes, uuid: templateUUID } = template.spec;
  const runtime = runtimeOf(api.store.sources.controlPlanes.get(keyOf(cluster)));
  const labels = { ...cluster.spec.labels, ...kubeTag(attributes.labels) };
  // Before it matters what is served: a minor version that is left out is refused as such, whichever it is.
  requireNoDowngrade(cluster.spec.version, wantedVersion(api, labels));
  const version = versionOf(api, labels, runtime);
  await asUnfit(() => api.cloud.check(call.caller.token, { imageID: attributes.imageID }, call.signal));
  const batch = values["max_batch_size"] as number | undefined;
  const now = timestamp(api.clock.now());
  const chosen = group === "master" ? undefined : group;
  const changed = await changeNodes(
    api,
    cluster,
    (current) => {
      // Of two requests at the same time, one finds the other's upgrade in progress.
      requireIdle(current, [], "Upgrading");
      requireNoDowngrade(current.spec.version, version);
      const nodeGroups = current.spec.nodeGroups.map((each) =>
        each.uuid === chosen?.uuid
          ? {
              ...each,
              version,
              imageID: attributes.imageID,
              labels: { ...each.labels, ...kubeTag(attributes.labels) },
              updatedAt: now,
              ...(batch === undefined ? {} : { maxBatchSize: batch }),
            }
          : each,
      );
      const labels = { ...current.spec.labels, ...kubeTag(attributes.labels) };
      return {
        ...current,
        spec: {
          ...current.spec,
          version,
          templateUUID,
          template: upgradedTemplate(current.spec.template, attributes),
          labels,
          nodeGroups,
          updatedAt: now,
        },
      };
    },
    call.signal,
  );
  return accepted(changed);
}

/**
 * What a cluster keeps of its template in an upgrade, as Magnum's: its network, whose change the cloud's objects
 * refuse, and what its machines are made of, of which only the image follows with their node group.
 */
const KEPT: ReadonlySet<string> = new Set<keyof MagnumTemplateAttributes>([
  "externalNetworkID",
  "fixedNetwork",
  "fixedSubnet",
  "dnsNameserver",
  "networkDriver",
  "apiserverPort",
  "masterLBEnabled",
  "keypairID",
  "flavorID",
  "masterFlavorID",
  "dockerVolumeSize",
  "volumeDriver",
  "httpProxy",
  "httpsProxy",
  "noProxy",
  "insecureRegistry",
]);

function upgradedTemplate(current: MagnumTemplateAttributes, next: MagnumTemplateAttributes): MagnumTemplateAttributes {
  const kept = Object.fromEntries(Object.entries(current).filter(([name]) => KEPT.has(name)));
  const taken = Object.fromEntries(Object.entries(next).filter(([name]) => !KEPT.has(name)));
  return { ...taken, ...kept } as MagnumTemplateAttributes;
}

/** What a new template names and is not there: the template is refused, as Magnum refuses one that does not fit. */
async function asUnfit<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MagnumError) throw conflict(`Cluster Template is not valid for upgrade: ${error.message}`);
    throw error;
  }
}

function kubeTag(labels: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> {
  const tag = labels?.["kube_tag"];
  return tag === undefined ? {} : { kube_tag: tag };
}

const numbers = (version: string) => version.replace(/^v/, "").split(/[.+-]/).slice(0, 3).map(Number);

/**
 * The rules of a hosted control plane, before anything is written: no version back, no minor version left out. @throws
 * MagnumError 409
 */
function requireNoDowngrade(from: string, to: string): void {
  const [[, minor = 0, patch = 0], [, nextMinor = 0, nextPatch = 0]] = [numbers(from), numbers(to)];
  const refuse = (why: string) =>
    conflict(`Cluster Template is not valid for upgrade: ${why} (from ${from} to ${to}).`);
  if (nextMinor < minor || (nextMinor === minor && nextPatch < patch))
    throw refuse("a control plane cannot be downgraded");
  if (nextMinor > minor + 1) throw refuse("a control plane is upgraded by one minor version at a time");
}
