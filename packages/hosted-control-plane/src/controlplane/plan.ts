import { setConditions, type Condition, type Plan, type Secret, type WantedCondition } from "@causeway/kubernetes";
import { canonicalJson } from "@causeway/foundation";
import type { HostedControlPlane } from "@causeway/api";
import { rootsDigest } from "../runtime.ts";
import type { ControlPlaneSpec, ControlPlaneState } from "../runtime.ts";
import { auditConditions, auditEvents } from "../audit-delivery/condition.ts";
import { webhookConditions, webhookEvents } from "../webhooks/findings.ts";
import { issuerConditions, issuerEvents } from "../believed/condition.ts";
import { backedUp, backupStatus } from "./backup-spec.ts";
import {
  availability,
  certificates,
  initialization,
  isReady,
  parkedEvents,
  refusedBy,
  upToDate,
  withoutCluster,
} from "./availability.ts";
import { clockConditions, clockEvents } from "./clock-condition.ts";
import { desired } from "./desired.ts";
import type { Observed } from "./gather.ts";
import { datastoreConditions, datastoreEvents } from "./migration-condition.ts";
import { networkProblem } from "./networks.ts";
import { planAuthorities, type AuthoritiesPlan } from "./plan-authorities.ts";
import { usableKubeconfig } from "./plan-kubeconfig.ts";
import type { Step } from "./steps.ts";
import { planTunnel } from "../tunnel/condition.ts";

/** The finalizer that keeps the object until its control plane is gone. */
export const finalizer = "hostedcontrolplane.controlplane.cluster.x-k8s.io";

/**
 * The finalizer that keeps the kubeconfig as long as the control plane: a namespace is deleted in any order, and
 * without the kubeconfig no controller could delete the cluster's resources in the cloud.
 */
export const secretFinalizer = "hostedcontrolplane.controlplane.cluster.x-k8s.io/secret";

type HostedControlPlaneStatus = NonNullable<HostedControlPlane["status"]>;

/**
 * The rules of a hosted control plane. Order: finalizer, roots, runtime, kubeconfig. Roots are created once and never
 * again once the control plane was initialised: losing them is reported, not hidden (KubeadmControlPlane's rule).
 */
export function plan(observed: Observed, now: number): Plan<Step, HostedControlPlaneStatus> {
  const { object, cluster } = observed;
  const tunnel = planTunnel(object, observed.tunnel, now);
  const conditionsWith = (...wanted: readonly WantedCondition[]) =>
    setConditions(tunnel.before, wanted, { generation: object.metadata.generation, now });
  if (isPaused(observed)) return { steps: [], status: { ...object.status, conditions: conditionsWith(paused) } };
  if (object.metadata.deletionTimestamp !== undefined) {
    const { condition, ...rest } = planDeletion(observed);
    return { ...rest, status: { ...object.status, conditions: conditionsWith(notPaused, condition) } };
  }
  if (!cluster) {
    return {
      steps: [],
      status: status(observed, conditionsWith(notPaused, withoutCluster)),
      wait: { for: "a Cluster whose controlPlaneRef names this object" },
    };
  }
  const networks = observed.initialized ? undefined : networkProblem(cluster);
  if (networks !== undefined) {
    return {
      steps: [],
      status: status(observed, conditionsWith(notPaused, refusedBy(networks))),
      wait: { for: "other networks of the Cluster" },
    };
  }
  const start = run(observed);
  const kubeconfig = publishKubeconfig(observed, now);
  const authorities = authoritiesPlan(observed, start.length === 0 && kubeconfig.length === 0, now);
  const steps = [
    ...prepare(observed),
    ...keepKubeconfig(observed),
    ...(authorities?.catchUp ?? []),
    ...start,
    ...kubeconfig,
    ...(authorities?.advance ?? []),
  ];
  return {
    steps: steps.slice(0, firstBarrier(steps)),
    status: status(
      { ...observed, ...(authorities ? { planned: authorities.status } : {}) },
      conditionsWith(
        notPaused,
        ...(authorities?.conditions ?? []),
        certificates(observed),
        initialization(observed),
        availability(observed),
        ...upToDate(observed),
        ...backedUp(object, observed.state?.backup, now),
        ...datastoreConditions(observed.state),
        ...clockConditions(object, observed.state?.clocks),
        ...webhookConditions(observed.webhooks),
        ...issuerConditions(object, observed.issuers),
        ...auditConditions(object, observed.auditDelivery),
        ...tunnel.conditions,
      ),
    ),
    ...waiting(observed, { now, until: Math.min(authorities?.until ?? Infinity, tunnel.until ?? Infinity) }),
    events: [
      ...parkedEvents(observed),
      ...datastoreEvents(object, observed.state),
      ...clockEvents(object, observed.state?.clocks),
      ...webhookEvents(object, observed.webhooks),
      ...issuerEvents(object, observed.issuers),
      ...auditEvents(object, observed.auditDelivery),
      ...tunnel.events,
    ],
  };
}

const paused: WantedCondition = {
  type: "Paused",
  status: "True",
  reason: "Paused",
  message: "reconciliation is paused",
};

const notPaused: WantedCondition = { type: "Paused", status: "False", reason: "NotPaused" };

/** Undefined while a root is missing. */
function authoritiesPlan(observed: Observed, isQuiet: boolean, now: number): AuthoritiesPlan | undefined {
  const { object, authorities: facts, initialized, state } = observed;
  if (facts === undefined) return undefined;
  const isAsRequested = state?.starting !== true && state?.problem === undefined && state?.parked === undefined;
  const settled = isQuiet && isReady(observed) && isAsRequested;
  return planAuthorities({ object, facts, initialized, settled, now });
}

function waiting(
  observed: Observed,
  { now, until }: { now: number; until: number },
): Pick<Plan<Step, HostedControlPlaneStatus>, "wait"> {
  const { defaults } = observed;
  const kubeconfig = usableKubeconfig(observed);
  if (defaults.host === undefined)
    return { wait: { for: "the address at which machines reach this host", until: now + 500 } };
  if (until < (kubeconfig?.renewAt ?? Infinity))
    return { wait: { for: "a time of spec.authorities, Machines to be replaced, or the tunnel", until } };
  return kubeconfig === undefined
    ? {}
    : { wait: { for: "the kubeconfig's certificate to reach half its life", until: kubeconfig.renewAt } };
}

function isPaused({ object, cluster }: Observed): boolean {
  return cluster?.spec.paused === true || object.metadata.annotations?.["cluster.x-k8s.io/paused"] !== undefined;
}

/** Steps after which the state must be read again: later steps read what they created. */
function firstBarrier(steps: readonly Step[]): number {
  const at = steps.findIndex((step) => step.type !== "add-finalizer");
  return at === -1 ? steps.length : lastOfKind(steps, at);
}

function lastOfKind(steps: readonly Step[], from: number): number {
  const kind = steps[from]?.type;
  let end = from + 1;
  while (steps[end]?.type === kind) end += 1;
  return end;
}

function prepare({ object, roots, initialized }: Observed): Step[] {
  const steps: Step[] = [];
  if (!object.metadata.finalizers?.includes(finalizer)) steps.push({ type: "add-finalizer" });
  if (initialized) return steps;
  for (const purpose of ["ca", "proxy", "sa"] as const) {
    if (roots[purpose] === undefined) steps.push({ type: "create-root", purpose });
  }
  return steps;
}

/**
 * A kubeconfig that a user deletes is released and recreated; one that is deleted with its namespace is still needed.
 */
function keepKubeconfig({ kubeconfigSecret: secret, namespaceTerminates }: Observed): Step[] {
  if (!secret) return [];
  const deleting = secret.metadata.deletionTimestamp !== undefined;
  if (!isHeld(secret)) return deleting ? [] : [{ type: "hold-kubeconfig", secret }];
  return deleting && !namespaceTerminates ? [{ type: "release-kubeconfig", secret }] : [];
}

function isHeld(secret: Secret): boolean {
  return secret.metadata.finalizers?.includes(secretFinalizer) === true;
}

function run(observed: Observed): Step[] {
  const spec = desired(observed);
  if (spec === undefined) return [];
  // What is parked comes back by itself.
  if (observed.state?.parked) return [];
  return isRunning(observed.state, spec) ? [] : [{ type: "run", spec }];
}

function isRunning(state: ControlPlaneState | undefined, spec: ControlPlaneSpec): boolean {
  if (state?.requested !== undefined) return canonicalJson(state.requested) === canonicalJson(spec);
  if (state === undefined || state.version !== spec.version) return false;
  if (!state.ready && state.starting !== true) return false;
  if (state.roots !== undefined && state.roots !== rootsDigest(spec)) return false;
  if (state.join?.stage !== spec.join?.stage) return false;
  if (canonicalJson(state.authentication) !== canonicalJson(spec.authentication)) return false;
  if (canonicalJson(settingsIn(state)) !== canonicalJson(settingsOf(spec))) return false;
  const { objects, bytes } = spec.limits;
  return state.limits.objects === objects && state.limits.bytes === bytes && sameNames(state.names, spec.names);
}

const settingsOf = ({ flags, backup, audit }: ControlPlaneSpec) => [flags ?? null, backup ?? null, audit ?? null];
const settingsIn = ({ flags, schedule, audit }: ControlPlaneState) => [flags ?? null, schedule ?? null, audit ?? null];

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === new Set(a).size;
}

function publishKubeconfig(observed: Observed, now: number): Step[] {
  const { state, roots } = observed;
  const kubeconfig = usableKubeconfig(observed);
  if (state === undefined || !state.ready || roots.ca === undefined) return [];
  const { endpoint, address } = state;
  const server = `https://${address ?? endpoint.host}:${endpoint.port}`;
  const named = address === undefined ? {} : { serverName: endpoint.host };
  const serves = kubeconfig !== undefined && kubeconfig.server === server && now < kubeconfig.renewAt;
  // Until every API server has new roots, a kubeconfig that knows both is the one that works with all.
  const isCurrent = kubeconfig?.isCurrent === true || state.starting === true;
  return serves && isCurrent ? [] : [{ type: "write-kubeconfig", server, ...named }];
}

function status(
  observed: Observed & { readonly planned?: NonNullable<HostedControlPlaneStatus["authorities"]> },
  conditions: Condition[],
): HostedControlPlaneStatus {
  const { object, state, initialized, planned } = observed;
  const ready = isReady(observed);
  const count = ready ? 1 : 0;
  const replicas = state?.replicas ?? { total: 1, ready: count, updated: count };
  return {
    conditions,
    ...(object.metadata.generation === undefined ? {} : { observedGeneration: object.metadata.generation }),
    externalManagedControlPlane: true,
    replicas: replicas.total,
    readyReplicas: replicas.ready,
    availableReplicas: replicas.ready,
    upToDateReplicas: replicas.updated,
    initialization: { controlPlaneInitialized: initialized || ready },
    ...runtimeStatus(observed),
    ...backupStatus(state?.backup),
    ...(state?.storage === undefined ? {} : { storage: { bytes: state.storage.bytes, budget: state.storage.budget } }),
    ...(state?.migration === undefined ? {} : { migration: state.migration }),
    ...(planned === undefined ? {} : { authorities: planned }),
    ...(state?.join === undefined ? {} : { datastore: state.join }),
    ...(state?.ready === true
      ? { version: state.version, endpoint: state.endpoint, limits: state.limits }
      : carried(object.status)),
  };
}

function runtimeStatus({ object, state }: Observed): Pick<HostedControlPlaneStatus, "runtime"> {
  const runtime = object.status?.runtime ?? state?.runtime;
  return runtime === undefined ? {} : { runtime };
}

function carried(
  before: HostedControlPlane["status"],
): Pick<HostedControlPlaneStatus, "version" | "endpoint" | "limits"> {
  return {
    ...(before?.limits === undefined ? {} : { limits: before.limits }),
    ...(before?.version === undefined ? {} : { version: before.version }),
    ...(before?.endpoint === undefined ? {} : { endpoint: before.endpoint }),
  };
}

/** Who holds the object reaches the tenant's API, as to delete the load balancers of its Services. */
const withoutApi =
  "; its API does not serve: repair it or, if it is lost, wait until those end that can without it (the cloud controller's after 15 min, with an event of what was removed), and remove the others by hand; the infrastructure object names what is left in the cloud";

function planDeletion(
  observed: Observed,
): Omit<Plan<Step, HostedControlPlaneStatus>, "status"> & { condition: WantedCondition } {
  const type = "Deleting";
  const others = (observed.object.metadata.finalizers ?? []).filter((f) => f !== finalizer);
  if (others.length > 0) {
    const lost = observed.state?.ready === true ? "" : withoutApi;
    const message = `waiting for finalizers of others that still need the control plane: ${others.join(", ")}${lost}`;
    const condition = { type, status: "True", reason: "WaitingForFinalizers", message } as const;
    return { steps: [], condition, wait: { for: message } };
  }
  const done = !observed.object.metadata.finalizers?.includes(finalizer);
  const { kubeconfigSecret: secret } = observed;
  const release: Step[] = secret && isHeld(secret) ? [{ type: "release-kubeconfig", secret }] : [];
  if (observed.state?.removing) {
    const message = "waiting until everything of the control plane is deleted";
    return { steps: [], condition: { type, status: "True", reason: "Deleting", message }, wait: { for: message } };
  }
  const remove: Step[] = observed.exists ? [{ type: "remove" }] : [...release, { type: "remove-finalizer" }];
  const message = "removing the control plane and its data";
  return { steps: done ? [] : remove, condition: { type, status: "True", reason: "Deleting", message } };
}
