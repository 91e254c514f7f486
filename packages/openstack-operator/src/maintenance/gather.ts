import { OpenStackDeployment } from "@causeway/api";
import {
  Node,
  Pod,
  Secret,
  secretText,
  type Informer,
  type Informers,
  type KubernetesClient,
  type ObjectKey,
} from "@causeway/kubernetes";
import { isAborted, messageOf } from "@causeway/foundation";
import { resolveCatalogue } from "../catalogue/index.ts";
import { computeGroups, groupsOf, type NodeGroup } from "../render/context.ts";
import { mutableSecrets } from "../render/desired.ts";
import { authoritiesSecret } from "../render/tls.ts";
import { PodDisruptionBudget } from "../render/types.ts";
import { guardImage, guardKey, guardLabel, nodeLabel } from "./guards.ts";
import { labels } from "../model/names.ts";
import { replicasOf } from "../render/sizes.ts";
import { unknownService, type Attempt, type ComputeNode, type ComputeService } from "./model.ts";
import type { NodeMaintenance, Observed, QuorumCluster } from "./model.ts";
import type { Nova, NovaAccess, OpenNova } from "./nova.ts";
import {
  computeNodeOf,
  hostsToRead,
  limitsOf,
  orphanedBudgets,
  readsNova,
  removedHosts,
  strayNodes,
} from "./plan-scope.ts";
import type { ScopeFrom } from "./plan-scope.ts";

/** The informers that maintenance reads. */
export interface MaintenanceFrom {
  readonly deployments: Informer<OpenStackDeployment>;
  readonly nodes: Informer<Node>;
  readonly guards: Informer<Pod>;
  readonly budgets: Informer<PodDisruptionBudget>;
  /** Of deployments: members of clusters are among them. */
  readonly pods: Informer<Pod>;
}

/** Opens them; pods and budgets are limited to guards. */
export function openMaintenanceInformers(informers: Informers): MaintenanceFrom {
  return {
    deployments: informers.for(OpenStackDeployment),
    nodes: informers.for(Node),
    guards: informers.for(Pod, { labelSelector: guardLabel }),
    budgets: informers.for(PodDisruptionBudget, { labelSelector: guardLabel }),
    pods: informers.for(Pod, { labelSelector: labels.deployment }),
  };
}

/**
 * What one process remembers of a deployment. All of it may be lost: then Nova is read once more, and an order may be
 * given once more.
 */
export interface Memory {
  readonly attempts: Map<string, Attempt>;
  /** Nova was read, and no compute is disabled by us. */
  isClear: boolean;
  /** UIDs of budgets that were deleted, and may still be in a list that is late. */
  readonly deleted: Set<string>;
  /** Nova was not read when it was tried last. */
  isUnread: boolean;
  nova?: NovaAccess & { readonly open: Nova };
}

/** What is planned from, and what steps are performed with; `open` undefined: Nova is not read. */
export interface Gathered extends Observed {
  readonly deployment: OpenStackDeployment;
  readonly memory: Memory;
  readonly open: Nova | undefined;
  /** UIDs of budgets, by their names. */
  readonly budgets: ReadonlyMap<string, string>;
}

/** What gathering needs; `memories` is by "NAMESPACE/NAME" of the deployment. */
export interface GatherMaintenance {
  readonly from: MaintenanceFrom;
  readonly client: KubernetesClient;
  readonly openNova: OpenNova;
  readonly memories: Map<string, Memory>;
}

/** Undefined: the deployment is gone, paused, or was never ready. Nova is read only where a node gives a reason. */
export async function gather(
  using: GatherMaintenance,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Gathered | undefined> {
  const { from, memories } = using;
  const deployment = from.deployments.get(key);
  const id = `${key.namespace}/${key.name}`;
  if (!deployment || deployment.metadata.deletionTimestamp !== undefined || deployment.spec.paused) {
    await memories.get(id)?.nova?.open.close();
    memories.delete(id);
    return undefined;
  }
  // Before it was ready once there is nothing to maintain.
  if (deployment.status?.release === undefined) return undefined;
  const nodes = computeNodesOf(deployment, from.nodes.list());
  const quorums = quorumsOf(deployment, from.pods.list());
  const controls = quorums.length === 0 ? [] : controlNodesOf(deployment, from.nodes.list());
  const guarded = [...nodes, ...controls];
  const memory: Memory = memories.get(id) ?? {
    attempts: new Map(),
    isClear: false,
    deleted: new Set(),
    isUnread: false,
  };
  memories.set(id, memory);
  const names = new Set(from.nodes.list().map(({ metadata }) => metadata.name));
  const budgets = budgetsOf(from, key, memory);
  const scope = {
    nodes,
    names,
    guarded: new Set(guarded.map(({ name }) => name)),
    budgets,
    isClear: memory.isClear,
  };
  const cloud = readsNova(scope) ? await readCloud(using, deployment, { memory, scope, signal }) : undefined;
  const byKey = new Map(guarded.map(({ name }) => [guardKey(name), name]));
  const imageFor = (pod: Pod) =>
    guardImage(deployment, { isCompute: nodes.some(({ name }) => name === pod.spec.nodeName) });
  const own = (object: Pod | PodDisruptionBudget): string[] => {
    const node = isOwn(object, key) ? byKey.get(object.metadata.labels?.[nodeLabel] ?? "") : undefined;
    return node === undefined ? [] : [node];
  };
  return {
    deployment,
    memory,
    open: cloud?.open,
    budgets: new Map(budgets.map(({ metadata }) => [metadata.name, metadata.uid ?? ""])),
    nodes,
    controls,
    quorums,
    nova: cloud?.nova,
    unread: cloud?.unread,
    published: (deployment.status.maintenance ?? []) as readonly NodeMaintenance[],
    removed: new Set(cloud?.removed),
    strays: cloud?.strays ?? [],
    orphans: cloud?.nova ? orphanedBudgets(scope, cloud.nova.services) : [],
    guards: new Set(
      from.guards.list().flatMap((pod) => (pod.spec.containers[0]?.image === imageFor(pod) ? own(pod) : [])),
    ),
    held: new Set(budgets.flatMap((budget) => own(budget))),
    attempts: memory.attempts,
    limits: limitsOf(deployment),
  };
}

function isOwn({ metadata }: Pod | PodDisruptionBudget, { namespace, name }: ObjectKey): boolean {
  const { labels: all = {}, deletionTimestamp } = metadata;
  return metadata.namespace === namespace && all[guardLabel] === name && deletionTimestamp === undefined;
}

/** Budgets that exist. One that was deleted counts no more, although the list may still have it. */
function budgetsOf({ budgets }: MaintenanceFrom, key: ObjectKey, { deleted }: Memory): PodDisruptionBudget[] {
  const all = budgets.list().filter((budget) => isOwn(budget, key));
  const listed = new Set(all.map(({ metadata }) => metadata.uid));
  for (const uid of deleted) if (!listed.has(uid)) deleted.delete(uid);
  return all.filter(({ metadata }) => !deleted.has(metadata.uid ?? ""));
}

interface ReadContext {
  readonly memory: Memory;
  readonly scope: ScopeFrom;
  readonly signal: AbortSignal;
}

interface Cloud {
  readonly open?: Nova;
  readonly nova?: NonNullable<Observed["nova"]>;
  readonly removed?: readonly string[];
  readonly strays?: readonly string[];
  readonly unread?: string;
}

/**
 * Control nodes are given free, and all nodes are held, without Nova too: it may be away because of one of them. A
 * first failure is often over at the next attempt, which follows at once.
 */
async function readCloud(using: GatherMaintenance, deployment: OpenStackDeployment, at: ReadContext): Promise<Cloud> {
  const { scope, signal } = at;
  try {
    const open = await novaOf(using, deployment, at);
    if (!open) return {};
    const first = await open.services(signal);
    const removed = removedHosts(scope, first);
    const cordoned = using.from.nodes
      .list()
      .flatMap(({ metadata, spec }) => (spec?.unschedulable ? metadata.name : []));
    const strays = strayNodes(scope, cordoned, first);
    const hosts = [...hostsToRead(scope.nodes, removed), ...strays];
    const servers = await open.servers(hosts, signal);
    // The list lacks the servers of cells that Nova did not reach: computes are read again, to know whose these are.
    const services = hosts.length === 0 ? first : bothTimes(first, await open.services(signal));
    const agents = await open.agents(removed, signal);
    at.memory.isUnread = false;
    return { open, removed, strays, nova: { services, servers, agents } };
  } catch (error) {
    if (signal.aborted || isAborted(error)) throw error;
    if (!at.memory.isUnread) {
      at.memory.isUnread = true;
      throw error;
    }
    return { unread: messageOf(error) };
  }
}

/** Services as they were first; those that were not known the second time are not known. */
function bothTimes(first: readonly ComputeService[], second: readonly ComputeService[]): ComputeService[] {
  const known = new Set(second.flatMap(({ host, isUnknown }) => (isUnknown ? [] : [host])));
  return first.map((each) => (known.has(each.host) ? each : unknownService(each.host)));
}

async function novaOf(
  { client, openNova }: GatherMaintenance,
  deployment: OpenStackDeployment,
  { memory, signal }: { readonly memory: Memory; readonly signal: AbortSignal },
): Promise<Nova | undefined> {
  const { name, namespace = "" } = deployment.metadata;
  const secret = await client.find(Secret, { namespace, name: mutableSecrets(name).credentials }, { signal });
  const password = secretText(secret, "keystone.admin");
  if (password === undefined) return undefined;
  const bundle = authoritiesSecret(deployment);
  const authorities =
    bundle && secretText(await client.find(Secret, { namespace, name: bundle }, { signal }), "ca.crt");
  if (memory.nova?.password !== password || memory.nova.authorities !== authorities) {
    await memory.nova?.open.close();
    memory.nova = { password, authorities, open: openNova(deployment, { password, authorities }) };
  }
  return memory.nova.open;
}

function computeNodesOf(deployment: OpenStackDeployment, all: readonly Node[]): ComputeNode[] {
  const { components } = resolveCatalogue(deployment.spec);
  if (!components.some(({ name }) => name === "nova-compute")) return [];
  return nodesOf(computeGroups(deployment.spec), all);
}

/** Nodes that run members of clusters. */
function controlNodesOf(deployment: OpenStackDeployment, all: readonly Node[]): ComputeNode[] {
  const member = resolveCatalogue(deployment.spec).components.find(({ quorum }) => quorum === "Majority");
  return member ? nodesOf(groupsOf(deployment.spec, member), all) : [];
}

function nodesOf(groups: readonly NodeGroup[], all: readonly Node[]): ComputeNode[] {
  const isIn = ({ metadata }: Node) =>
    groups.some(({ nodeSelector }) =>
      Object.entries(nodeSelector).every(([key, value]) => metadata.labels?.[key] === value),
    );
  return all
    .filter(isIn)
    .map(computeNodeOf)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Clusters of several members; those that other operators run are theirs to protect. */
function quorumsOf({ spec, metadata }: OpenStackDeployment, pods: readonly Pod[]): QuorumCluster[] {
  return resolveCatalogue(spec).components.flatMap((component) => {
    const size = replicasOf(spec, component);
    if (component.quorum !== "Majority" || size < 2) return [];
    const members = pods.filter(
      (pod) =>
        pod.metadata.namespace === metadata.namespace &&
        pod.metadata.labels?.[labels.deployment] === metadata.name &&
        pod.metadata.labels[labels.component] === component.name,
    );
    return [{ component: component.name, size, members: members.map(memberOf) }];
  });
}

const memberOf = (pod: Pod): QuorumCluster["members"][number] => ({
  node: pod.spec.nodeName,
  isReady:
    pod.metadata.deletionTimestamp === undefined &&
    pod.status?.conditions?.find(({ type }) => type === "Ready")?.status === "True",
});
