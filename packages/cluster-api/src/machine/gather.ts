import { finalizers, type Machine } from "@causeway/api";
import {
  controllerOf,
  Namespace,
  Node,
  PersistentVolume,
  Pod,
  VolumeAttachment,
  type KubernetesClient,
  type ObjectKey,
  type RemoteCluster,
} from "@causeway/kubernetes";
import { clusterKeyOf, lookUp, type Context } from "../objects/context.ts";
import { isLeaving } from "../objects/metadata.ts";
import { needsDrain, nodeAwaitingVolumes } from "./deletion.ts";
import { limited } from "./limited.ts";
import { applicableRules } from "./drain-rules.ts";
import type { ObservedDrain, Observed, ObservedNodes } from "./observed.ts";
import { attachedVolumes, type ObservedVolumes } from "./volumes.ts";

/** Reads caches; only a Machine that is drained costs lists: of the pods on its Node, and of volumes. */
export async function gather(context: Context, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const machine = context.machines.get(key);
  if (!machine || isLeaving(machine, finalizers.machine)) return undefined;
  const { machineSet, deployment } = ownersOf(context, machine);
  const { infrastructureRef, bootstrap } = machine.spec;
  const own = {
    machine,
    cluster: context.clusters.get(clusterKeyOf(machine)),
    machineSet,
    deployment,
    infrastructure: lookUp(context, key.namespace, infrastructureRef),
    bootstrap: bootstrap.configRef && lookUp(context, key.namespace, bootstrap.configRef),
  };
  const observed = { ...own, workload: await workloadOf(context, own, signal) };
  return withVolumes(context, observed, signal);
}

/** Lists volumes only where the deletion has come to them: a drain may take hours. */
async function withVolumes(context: Context, observed: Observed, signal: AbortSignal): Promise<Observed> {
  const { machine, workload } = observed;
  const node = nodeAwaitingVolumes(observed, context.clock.now());
  const remote = context.remoteClusters.get(clusterKeyOf(machine));
  if (!node || !remote || workload.reach === "unreachable") return observed;
  const volumes = await limited(context.clock, signal, (late) => volumesOf(remote.client, node, late));
  return { ...observed, workload: { ...workload, drain: { ...workload.drain, volumes } } };
}

function ownersOf({ sets, deployments }: Context, machine: Machine): Pick<Observed, "machineSet" | "deployment"> {
  const namespace = machine.metadata.namespace ?? "";
  const setName = controllerOf(machine)?.name;
  const machineSet = setName === undefined ? undefined : sets.get({ namespace, name: setName });
  const deploymentName = machineSet && controllerOf(machineSet)?.name;
  const deployment = deploymentName === undefined ? undefined : deployments.get({ namespace, name: deploymentName });
  return { machineSet, deployment };
}

async function workloadOf(
  context: Context,
  own: Pick<Observed, "machine" | "cluster" | "infrastructure">,
  signal: AbortSignal,
): Promise<ObservedNodes> {
  const { machine } = own;
  const remote = context.remoteClusters.get(clusterKeyOf(machine));
  const nodes = remote?.informers.for(Node);
  if (!remote || !nodes?.synced) return { reach: "unreachable" };
  indexNodes(remote);
  const { providerID } = machine.spec;
  const named = machine.status?.nodeRef && nodes.get({ namespace: "", name: machine.status.nodeRef.name });
  const found = providerID ? nodes.byIndex("providerID", providerID) : [];
  const all = (named && !found.includes(named) ? [...found, named] : found).map((node) =>
    context.pendingDeletions.view(node, context.clock.now()),
  );
  if (!named || !needsDrain(own)) return { reach: "connected", nodes: all, drain: noDrain };
  const drained = (late: AbortSignal) => drainOf(context, { machine, node: named, remote }, late);
  const drain = await limited(context.clock, signal, drained);
  return { reach: "connected", nodes: all, drain };
}

/** Lets Nodes be found by what their machines are called at the provider. */
export function indexNodes({ informers }: RemoteCluster): void {
  informers.index(informers.for(Node), {
    providerID: ({ spec }) => (spec?.providerID ? [spec.providerID] : []),
  });
}

const noDrain: ObservedDrain = { pods: [], rules: [], namespaces: new Map() };

interface Drained {
  readonly machine: Machine;
  readonly node: Node;
  readonly remote: RemoteCluster;
}

/** The pods on the Node; namespaces only if a rule for the Machine selects by their labels. */
async function drainOf(
  context: Context,
  { machine, node, remote: { client } }: Drained,
  signal: AbortSignal,
): Promise<ObservedDrain> {
  const { items: pods } = await client.list(Pod, { fieldSelector: `spec.nodeName=${node.metadata.name}`, signal });
  const rules = context.drainRules.list(machine.metadata.namespace ?? "");
  const cluster = context.clusters.get(clusterKeyOf(machine));
  const selects = applicableRules({ machine, cluster, rules }).some(({ spec }) =>
    (spec.pods ?? []).some(({ namespaceSelector }) => namespaceSelector),
  );
  const listed = selects ? (await client.list(Namespace, { signal })).items : [];
  const namespaces = new Map(listed.map(({ metadata }) => [metadata.name, metadata.labels]));
  return { pods, rules, namespaces };
}

/** Servers list VolumeAttachments for all Nodes only. */
async function volumesOf(client: KubernetesClient, node: Node, signal: AbortSignal): Promise<ObservedVolumes> {
  const { items } = await client.list(VolumeAttachment, { signal });
  const attachments = items.filter(({ spec }) => spec.nodeName === node.metadata.name);
  const { reported, persistent } = attachedVolumes(node, attachments);
  if (reported.length + persistent.length === 0) return { attachments, persistentVolumes: [] };
  return { attachments, persistentVolumes: (await client.list(PersistentVolume, { signal })).items };
}
