import { annotations, finalizers, type Machine } from "@causeway/api";
import {
  controllerOf,
  Namespace,
  Node,
  Pod,
  type KubernetesClient,
  type ObjectKey,
  type RemoteCluster,
} from "@causeway/kubernetes";
import { clusterKeyOf, lookUp, type Context } from "../objects/context.ts";
import { isLeaving } from "../objects/metadata.ts";
import { applicableRules, drainBehaviorOf, type DrainContext } from "./drain-rules.ts";
import type { MachineFacts, NodeFacts, PodFacts } from "./facts.ts";

/** Reads caches; only a Machine that is being drained costs a list of the pods on its Node. */
export async function gatherMachine(
  context: Context,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<MachineFacts | undefined> {
  const machine = context.machines.get(key);
  if (!machine || isLeaving(machine, finalizers.machine)) return undefined;
  const { machineSet, deployment } = ownersOf(context, machine);
  const { infrastructureRef, bootstrap } = machine.spec;
  return {
    machine,
    cluster: context.clusters.get(clusterKeyOf(machine)),
    machineSet,
    deployment,
    infrastructure: lookUp(context, key.namespace, infrastructureRef),
    bootstrap: bootstrap.configRef && lookUp(context, key.namespace, bootstrap.configRef),
    workload: await workloadOf(context, machine, signal),
  };
}

function ownersOf({ sets, deployments }: Context, machine: Machine): Pick<MachineFacts, "machineSet" | "deployment"> {
  const namespace = machine.metadata.namespace ?? "";
  const setName = controllerOf(machine)?.name;
  const machineSet = setName === undefined ? undefined : sets.get({ namespace, name: setName });
  const deploymentName = machineSet && controllerOf(machineSet)?.name;
  const deployment = deploymentName === undefined ? undefined : deployments.get({ namespace, name: deploymentName });
  return { machineSet, deployment };
}

async function workloadOf(context: Context, machine: Machine, signal: AbortSignal): Promise<NodeFacts> {
  const remote = context.remoteClusters.get(clusterKeyOf(machine));
  const nodes = remote?.informers.for(Node);
  if (!remote || !nodes?.synced) return { reach: "unreachable" };
  indexNodes(remote);
  const { providerID } = machine.spec;
  const named = machine.status?.nodeRef && nodes.get({ namespace: "", name: machine.status.nodeRef.name });
  const found = providerID ? nodes.byIndex("providerID", providerID) : [];
  const all = (named && !found.includes(named) ? [...found, named] : found).map((node) =>
    context.asked.view(node, context.clock.now()),
  );
  const draining = named && machine.metadata.deletionTimestamp && !excludesDraining(machine);
  const rules = draining ? context.drainRules.list(machine.metadata.namespace ?? "") : [];
  const cluster = context.clusters.get(clusterKeyOf(machine));
  const pods = draining
    ? await podsOn(remote.client, named.metadata.name, { context: { machine, cluster, rules }, signal })
    : [];
  return { reach: "connected", nodes: all, pods };
}

/** Lets Nodes be found by what their machines are called at the provider. */
export function indexNodes({ informers }: RemoteCluster): void {
  informers.index(informers.for(Node), {
    providerID: ({ spec }) => (spec?.providerID ? [spec.providerID] : []),
  });
}

function excludesDraining({ metadata, status }: Machine): boolean {
  const over = status?.deletion?.waitForNodeVolumeDetachStartTime !== undefined;
  return over || metadata.annotations?.[annotations.excludeNodeDraining] !== undefined;
}

/** Pods on the Node with what is to be done with each; namespaces are read only if a rule selects by their labels. */
async function podsOn(
  client: KubernetesClient,
  node: string,
  on: { readonly context: Omit<DrainContext, "namespaces">; readonly signal: AbortSignal },
): Promise<PodFacts[]> {
  const { context, signal } = on;
  const { items } = await client.list(Pod, { fieldSelector: `spec.nodeName=${node}`, signal });
  const rules = applicableRules({ ...context, namespaces: new Map() });
  const selects = rules.some(({ spec }) => (spec.pods ?? []).some(({ namespaceSelector }) => namespaceSelector));
  const listed = selects ? (await client.list(Namespace, { signal })).items : [];
  const namespaces = new Map(listed.map(({ metadata }) => [metadata.name, metadata.labels]));
  return items.map((pod) => podFacts(pod, { ...context, rules, namespaces }));
}

function podFacts(pod: Pod, context: DrainContext): PodFacts {
  const { namespace = "", name, uid = "", deletionTimestamp } = pod.metadata;
  const { behavior, order } = drainBehaviorOf(pod, context);
  return {
    namespace,
    name,
    uid,
    stays: behavior === "Skip",
    ...(behavior === "WaitCompleted" ? { completes: true } : {}),
    ...(order === 0 ? {} : { order }),
    ...(deletionTimestamp ? { deletingSince: Date.parse(deletionTimestamp) } : {}),
  };
}
