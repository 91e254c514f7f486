import type { OpenStackMachine } from "@causeway/api";
import type { PlannedEvent } from "@causeway/kubernetes";
import { DryRunCloud, type ProjectState } from "../dry-run/cloud.ts";
import { bastionAfter, clusterAfter, machineAfter } from "../dry-run/objects.ts";
import type { ClusterCloud, Observed as ClusterObserved } from "../openstackcluster/model.ts";
import { plan as planCluster } from "../openstackcluster/plan.ts";
import type { MachineCloud, Observed as MachineObserved } from "../openstackmachine/model.ts";
import { plan as planMachine } from "../openstackmachine/plan.ts";
import { explainStep, joined, type ExplainedStep, type Explanation } from "./explanation.ts";
import { clusterStepCalls, machineStepCalls } from "./step-calls.ts";

/** More rounds than any object needs; a plan that does not come to rest ends here. */
const MOST = 100;

/** An explanation, and the cloud and the object at its end. */
export interface DryRun<Observed> {
  readonly explanation: Explanation;
  readonly observed: Observed;
  readonly cloud: DryRunCloud | undefined;
}

/** Plans an OpenStackCluster to the end, and performs nothing. */
export function dryRunCluster(before: ClusterObserved, now: number): DryRun<ClusterObserved> {
  const { identity } = before;
  const cloud = identity.ok ? new DryRunCloud({ ...nothing(identity.cloud), ...identity.cloud }) : undefined;
  let observed = before;
  const rounds: ExplainedStep[][] = [];
  let events: readonly PlannedEvent[] = [];
  for (;;) {
    const { steps, status, wait, events: planned } = planCluster(observed, now);
    events = rounds.length === 0 ? (planned ?? []) : joined(events, planned);
    const isDone = steps.length === 0 || cloud === undefined;
    if (isDone || rounds.length === MOST) {
      const published = before.object.status;
      const explanation = { rounds, complete: isDone, wait: wait && { for: wait.for }, events, status, published };
      return { explanation, observed: { ...observed, object: { ...observed.object, status } }, cloud };
    }
    rounds.push(steps.map((step) => explainStep(step, clusterStepCalls(step), cloud)));
    let { object, bastion } = observed;
    for (const step of steps) {
      cloud.applyCluster(step);
      object = clusterAfter(object, step);
      bastion = bastionAfter(bastion, step, object.metadata.namespace ?? "");
    }
    observed = withCluster(observed, { object: { ...object, status }, bastion, cloud: cloud.forCluster() });
  }
}

function withCluster(
  observed: ClusterObserved,
  { object, bastion, cloud }: Pick<ClusterObserved, "object" | "bastion"> & { cloud: ClusterCloud },
): ClusterObserved {
  return { ...observed, object, bastion, identity: { ok: true, cloud } };
}

/** Plans an OpenStackMachine to the end, and performs nothing. `cloud`: what an earlier plan leaves. */
export function dryRunMachine(before: MachineObserved, now: number, continued?: DryRunCloud): DryRun<MachineObserved> {
  const { identity } = before;
  const cloud = continued ?? (identity.ok ? new DryRunCloud(withNothing(identity.cloud)) : undefined);
  let observed: MachineObserved =
    cloud && identity.ok
      ? { ...before, identity: { ok: true, cloud: { ...identity.cloud, ...sharedOf(cloud) } } }
      : before;
  const rounds: ExplainedStep[][] = [];
  let events: readonly PlannedEvent[] = [];
  for (;;) {
    const { steps, status, wait, events: planned } = planMachine(observed, now);
    events = rounds.length === 0 ? (planned ?? []) : joined(events, planned);
    const isDone = steps.length === 0 || cloud === undefined || !observed.identity.ok;
    if (isDone || rounds.length === MOST || !observed.identity.ok) {
      const published = before.object.status;
      const explanation = { rounds, complete: isDone, wait: wait && { for: wait.for }, events, status, published };
      return { explanation, observed: { ...observed, object: { ...observed.object, status } }, cloud };
    }
    rounds.push(steps.map((step) => explainStep(step, machineStepCalls(step), cloud)));
    let object: OpenStackMachine = observed.object;
    for (const step of steps) {
      cloud.applyMachine(step);
      object = machineAfter(object, step);
    }
    const state: MachineCloud = { ...observed.identity.cloud, ...sharedOf(cloud) };
    observed = { ...observed, object: { ...object, status }, identity: { ok: true, cloud: state } };
  }
}

/**
 * What steps of clusters and machines change; flavors, images and extensions remain as the machine's gather read them.
 */
function sharedOf(cloud: DryRunCloud) {
  const { networks, subnets, securityGroups, ports, servers, volumes, floatingIps } = cloud.forMachine();
  return { networks, subnets, securityGroups, ports, servers, volumes, floatingIps };
}

/** Only a machine with a pool reads floating IPs. */
function withNothing(cloud: MachineCloud): ProjectState {
  return { ...nothing(cloud), ...cloud, floatingIps: cloud.floatingIps ?? [] };
}

/** The lists that the other planner reads, empty. */
function nothing({ projectId, identity }: Pick<ClusterCloud, "projectId" | "identity">): ProjectState {
  return {
    projectId,
    identity,
    region: "",
    networks: [],
    subnets: [],
    routers: [],
    ports: [],
    securityGroups: [],
    floatingIps: [],
    loadBalancing: {
      available: false,
      providers: [],
      loadBalancers: [],
      listeners: [],
      pools: [],
      members: new Map(),
      withoutMonitors: [],
    },
    zones: [],
    servers: [],
    images: [],
    flavors: [],
    serverGroups: [],
    volumes: [],
  };
}
