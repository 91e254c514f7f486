import type { OpenStackClusterStatus } from "@causeway/api";
import { isDeleting, setConditions, type Plan, type PlannedEvent, type WantedCondition } from "@causeway/kubernetes";
import type { Network } from "@causeway/openstack";
import { UNAVAILABLE, type Hold } from "../identity/state.ts";
import { summarise } from "../resources/findings.ts";
import { cloudIdentityAnnotation, clusterFinalizer, clusterResourceName } from "../resources/naming.ts";
import { planBastion } from "./bastion.ts";
import { claimProblem } from "./claim.ts";
import { planContended } from "./contended.ts";
import { planDeletion } from "./deletion.ts";
import { planEndpoint } from "./endpoint.ts";
import { missing, type ClusterCloud, type ClusterContext, type Observed, type ListNames, type Part } from "./model.ts";
import type { ClusterStep } from "./steps.ts";
import { ignoredClusterChanges } from "./immutable.ts";
import { planNetwork } from "./network.ts";
import { ownView, withOwnDescriptions } from "./own-view.ts";
import { newOwner, ownerOf, possessionOf } from "./possession.ts";
import { planRouter } from "./router.ts";
import { planSecurityGroups } from "./security-groups.ts";
import { statusOf, type Parts } from "./status.ts";
import { wrongCloud } from "./identity.ts";

/** The steps, status and events of an OpenStackCluster. */
export interface ClusterPlan extends Plan<ClusterStep, OpenStackClusterStatus> {
  readonly refresh?: ListNames;
}

/** How often the availability zones of an unchanged cluster are read. */
const zonesInterval = 10 * 60_000;
const retryIdentity = 60_000;
const leavingInterval = 15_000;

/**
 * What an OpenStackCluster needs next. Pure: the same observation gives the same plan, and a plan whose steps
 * have all been performed leads to a plan without steps.
 */
export function plan(observed: Observed, now: number): ClusterPlan {
  const { object, clusterName, identity } = observed;
  const status = object.status ?? {};
  if (observed.paused) return { steps: [], status };
  const deleting = isDeleting(object);
  if (deleting && !object.metadata.finalizers?.includes(clusterFinalizer)) return { steps: [], status };
  if (clusterName === undefined) {
    if (!deleting) return { steps: [], status, wait: { for: "a Cluster that owns this OpenStackCluster" } };
  }
  if (!identity.ok) return refused(observed, identity, now);
  const elsewhere = wrongCloud(object, identity.cloud.identity);
  if (elsewhere !== undefined) return refused(observed, { reason: "WrongCloud", message: elsewhere }, now);
  const whole = contextOf(observed, clusterName ?? object.metadata.name, identity.cloud, now);
  const possession = possessionOf(whole);
  // What was refused a moment ago is reported first, and nothing is done.
  const isFree = observed.hold === undefined || observed.hold.until <= now;
  const contended = possession.kind === "own" || !isFree ? undefined : planContended(whole, possession, now);
  if (contended) return contended;
  const context = ownView("others" in possession ? without(whole, possession.others) : whole);
  if (deleting) return planDeletion(context, observed.hold, now);
  const foreign = claimProblem(context);
  if (foreign !== undefined) return unclaimed(observed, foreign, now);
  return withOwnDescriptions(planNormal(context, observed, now), context);
}

function without(context: ClusterContext, others: readonly { readonly id: string }[]): ClusterContext {
  if (others.length === 0) return context;
  const ids = new Set(others.map(({ id }) => id));
  const { cloud } = context;
  const own = (networks: readonly Network[]) => networks.filter(({ id }) => !ids.has(id));
  const { nameIndex } = cloud;
  const index = nameIndex && { ...nameIndex, networks: (name: string) => own(nameIndex.networks(name)) };
  return { ...context, cloud: { ...cloud, networks: own(cloud.networks), nameIndex: index } };
}

function contextOf(
  { object, machines, leaving, reserved = [], controlPlane, bastion }: Observed,
  clusterName: string,
  cloud: ClusterCloud,
  now: number,
): ClusterContext {
  const crn = clusterResourceName(object.metadata.namespace ?? "", clusterName);
  return {
    object,
    cloud,
    crn,
    tags: object.spec.tags ?? [],
    machines,
    leaving,
    reserved,
    controlPlane,
    clusterName,
    bastion,
    now,
  };
}

function refused(
  observed: Observed,
  why: { reason: string; message: string; until?: number | undefined; since?: number | undefined },
  now: number,
): ClusterPlan {
  const { object } = observed;
  if (why.until !== undefined) return leftAlone(observed, { ...why, until: why.until }, now);
  const finding = missing("OpenStackAuthenticationSucceeded", why.reason, why.message);
  const findings = [finding, { ...finding, type: "Ready" }];
  const moment = { generation: object.metadata.generation, now };
  return {
    steps: [],
    status: { ...object.status, conditions: setConditions(object.status?.conditions, findings, moment) },
    wait: { for: `credentials that work: ${why.message}`, until: now + retryIdentity },
    events: [{ type: "Warning", reason: why.reason, message: why.message }],
  };
}

/** Milliseconds of pauses of the cloud, one after another, of which users are warned. */
const LONG_PAUSE = 5 * 60_000;

/** The cloud wants to be left alone: what is known remains, and nothing is a failure unless it lasts. */
function leftAlone(
  { object }: Observed,
  { reason, message, until, since }: { reason: string; message: string; until: number; since?: number | undefined },
  now: number,
): ClusterPlan {
  const { conditions } = object.status ?? {};
  const moment = { generation: object.metadata.generation, now };
  const unknown: WantedCondition = { type: "Ready", status: "Unknown", reason, message };
  const isKnown = conditions?.some((c) => c.type === "Ready") === true;
  const status = isKnown
    ? object.status
    : { ...object.status, conditions: setConditions(conditions, [unknown], moment) };
  const isLong = since !== undefined && now - since >= LONG_PAUSE;
  return {
    steps: [],
    status: status ?? {},
    wait: { for: message, until },
    ...(isLong ? { events: [warningOf(reason, since)] } : {}),
  };
}

/** The same text as long as it lasts, so that it is one event. */
function warningOf(reason: string, since: number): PlannedEvent {
  const cause = reason === UNAVAILABLE ? "does not respond (status 503)" : "limits the rate of requests";
  const message = `The cloud ${cause} since ${new Date(since).toISOString()}; nothing changes until it takes calls again`;
  return { type: "Warning", reason, message };
}

function unclaimed({ object }: Observed, message: string, now: number): ClusterPlan {
  const finding = missing("NetworkReady", "NameInUse", message);
  const moment = { generation: object.metadata.generation, now };
  const conditions = setConditions(object.status?.conditions, [finding, { ...finding, type: "Ready" }], moment);
  return {
    steps: [],
    status: { ...object.status, conditions },
    wait: { for: message, until: now + zonesInterval },
    events: [{ type: "Warning", reason: "NameInUse", message }],
  };
}

function planNormal(context: ClusterContext, observed: Observed, now: number): ClusterPlan {
  const planned = planParts(context);
  const all = listed(planned);
  const provisioned = context.object.status?.initialization?.provisioned === true;
  // Before anything is created: a spec that cannot be satisfied only sets a condition.
  const blocking = provisioned ? [] : all.filter(isRefusal);
  const held = observed.hold && observed.hold.until > now ? observed.hold : undefined;
  const bastion = planned.bastion && { ...planned.bastion, finding: heldFinding(planned.bastion.finding, held) };
  const parts = { ...planned, bastion };
  const wanted = [...all, ...(bastion ? [bastion] : [])];
  const idle = held !== undefined || blocking.length > 0;
  const steps = idle ? [] : firstSteps(context, wanted);
  const findings = findingsOf(all, held, blocking[0]);
  const status = statusOf(context, parts, { findings, now });
  const wait = held ? { for: held.message, until: held.until } : waitOf(wanted, findings, now + intervalOf(observed));
  return {
    steps,
    status,
    ...(steps.length > 0 ? {} : { wait }),
    refresh: wanted.flatMap((part) => part.refresh ?? []),
    events: [...eventsOf(all, blocking), ...ignoredClusterChanges(context, parts)],
  };
}

/** Nothing can be done about it, now or after steps of other parts. */
function isRefusal({ finding, steps, wait, waitsForOthers }: Part): boolean {
  return finding.status === "False" && steps.length === 0 && !wait && !waitsForOthers;
}

/** The parts that a cluster cannot be provisioned without. */
function listed({ network, router, groups, endpoint }: Parts): readonly Part[] {
  return [network, router, groups, endpoint];
}

/** While a cluster goes, no change in the cloud would say that it does not accept the credentials any longer. */
const intervalOf = ({ isLeaving }: Observed): number => (isLeaving === true ? leavingInterval : zonesInterval);

function planParts(context: ClusterContext): Parts {
  const network = planNetwork(context);
  const router = planRouter(context, network);
  const groups = planSecurityGroups(context, network.subnets);
  const endpoint = planEndpoint(context, network, router);
  const bastion = planBastion(context, { network, router, groups });
  return { network, router, groups, endpoint, bastion };
}

/** A finding of what was refused a moment ago has the reason of the refusal. */
function heldFinding<T extends string>(finding: WantedCondition<T>, held: Hold | undefined): WantedCondition<T> {
  if (held?.type !== finding.type) return finding;
  return { type: finding.type, status: "False", reason: held.reason, message: held.message };
}

/** An object that creates a network creates nothing before it is known to be the only one of its name. */
function firstSteps(context: ClusterContext, parts: readonly Part[]): ClusterStep[] {
  const finalizer = finalizerSteps(context);
  if (finalizer.some((step) => "owner" in step)) return finalizer;
  const network = parts.filter(({ steps }) => steps.some(({ type }) => type === "create-network"));
  const next = network.length > 0 && ownerOf(context) !== undefined ? network : parts;
  return [...finalizer, ...next.flatMap(({ steps }) => steps)];
}

/** Also for an object that upstream's provider has left: it has the finalizer, and no note of the cloud. */
function finalizerSteps(context: ClusterContext): ClusterStep[] {
  const { object, cloud } = context;
  const noted = object.metadata.annotations?.[cloudIdentityAnnotation] !== undefined;
  if (noted && object.metadata.finalizers?.includes(clusterFinalizer)) return [];
  const owner = newOwner(context);
  const step = { for: "OpenStackAuthenticationSucceeded", type: "add-finalizer", identity: cloud.identity } as const;
  return [{ ...step, ...(owner === undefined ? {} : { owner }) }];
}

/** Ready is why nothing is done, if nothing is; else the first finding that is not true. */
function findingsOf(parts: readonly Part[], held: Hold | undefined, blocking: Part | undefined): WantedCondition[] {
  const authenticated: WantedCondition = {
    type: "OpenStackAuthenticationSucceeded",
    status: "True",
    reason: "OpenStackAuthenticationSucceeded",
  };
  const own = [authenticated, ...parts.map((part) => part.finding)].map((finding) => heldFinding(finding, held));
  const cause = own.find(({ type }) => type === held?.type) ?? blocking?.finding;
  return [...own, summarise(cause ? [cause] : own, "Ready")];
}

function waitOf(parts: readonly Part[], findings: readonly WantedCondition[], until: number) {
  const ready = findings.find((f) => f.type === "Ready");
  const reason =
    parts.find((part) => part.wait)?.wait ?? (ready?.status === "True" ? "changes" : (ready?.message ?? ""));
  return { for: reason, until };
}

function eventsOf(parts: readonly Part[], blocking: readonly Part[]): PlannedEvent[] {
  return [
    ...parts.flatMap((part) => part.events ?? []),
    ...blocking.map(({ finding }): PlannedEvent => ({
      type: "Warning",
      reason: finding.reason,
      message: finding.message ?? "",
    })),
  ];
}
