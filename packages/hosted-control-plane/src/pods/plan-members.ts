import { canonicalJson } from "@causeway/foundation";
import type { Deployment, Secret, StatefulSet } from "@causeway/kubernetes";
import type { ControlPlaneProblem } from "../runtime.ts";
import type { Observed } from "./observed.ts";
import { keyspaceOf } from "./keyspace.ts";
import { etcdMembers, peerUrlOf, type MembersShape } from "./objects/etcd.ts";
import { isPooled } from "./options.ts";
import { placeOf } from "./plan-etcd-authority.ts";
import { copyName } from "./plan-keys.ts";
import { isRolledOut, podsOf } from "./rollout.ts";
import type { Step } from "./steps.ts";

/** Of the StatefulSet: how many members etcd had when their number last began to change, or has. */
export const membersAnnotation = "controlplane.causeway.dev/members";
/** While their number changes: how many of them etcd knew last. */
export const registeredAnnotation = "controlplane.causeway.dev/registered-members";

const memberStepTypes = ["add-etcd-member", "promote-etcd-member", "move-etcd-leader", "remove-etcd-member"] as const;
/** A step that changes the etcd's own list, or who leads. */
export type MemberStep = Extract<Step, { type: (typeof memberStepTypes)[number] }>;

/** Is it one of `memberSteps`? */
export const isMemberStep = (step: Step): step is MemberStep => memberStepTypes.some((type) => type === step.type);

type MembersFrom = Pick<Observed, "spec" | "live" | "pods" | "namespaceName" | "membership">;
type SpecAndLive = Pick<MembersFrom, "spec" | "live">;

/** The StatefulSet of an own etcd: its shape and its annotations. */
export interface WantedMembers {
  readonly shape: MembersShape;
  readonly settled: number;
  /** Undefined: the number does not change. */
  readonly registered?: number;
}

/** The members of an own etcd are being changed, or are to be. */
function isResized(from: SpecAndLive): boolean {
  const { settled, registered } = annotated(from);
  return !isPooled(from.spec) && settled !== undefined && (settled !== wantedOf(from) || registered !== undefined);
}

/** They are changed now: an etcd that is hibernated does not run, and its members wait until it is woken. */
export function isResizing(from: SpecAndLive): boolean {
  return from.spec.replicas !== 0 && isResized(from);
}

/** A value that differs after each change of the members or of their requested number. */
export function memberProgress(from: SpecAndLive & Pick<MembersFrom, "membership">): string {
  return isResizing(from) ? canonicalJson([wantedOf(from), annotated(from), from.membership ?? null]) : "";
}

/**
 * Members that API servers connect to. When there are to be fewer, they give up those that leave before these leave;
 * when there are to be more, they learn of the new ones when all are there.
 */
export function servingMembers(from: MembersFrom): number {
  const { settled = Infinity, registered = Infinity } = annotated(from);
  const least = Math.min(wantedOf(from), settled, registered);
  if (!isResized(from)) return least;
  const voters = from.membership?.members.filter(({ isLearner }) => !isLearner).length;
  // If the etcd does not respond, its last known members may be outdated: API servers get no new member.
  return Math.min(least, voters ?? serversOf(from.live.get("Deployment/kube-apiserver") as Deployment | undefined));
}

/** How many members API servers are started with; without API servers, any number. */
function serversOf(program: Deployment | undefined): number {
  const servers = valueOf(program?.spec.template.spec.containers[0]?.command ?? [], "--etcd-servers");
  return servers?.split(",").length ?? Infinity;
}

const wantedOf = ({ spec }: Pick<MembersFrom, "spec">): number => etcdMembers(spec.pods?.datastore);
const liveEtcd = ({ live }: Pick<MembersFrom, "live">) => live.get("StatefulSet/etcd") as StatefulSet | undefined;

function annotated(from: SpecAndLive): { readonly settled?: number; readonly registered?: number } {
  const { annotations = {} } = liveEtcd(from)?.metadata ?? {};
  const number = (name: string) => (Number(annotations[name]) > 0 ? Number(annotations[name]) : undefined);
  const [settled, registered] = [number(membersAnnotation), number(registeredAnnotation)];
  return { ...(settled === undefined ? {} : { settled }), ...(registered === undefined ? {} : { registered }) };
}

/**
 * The desired StatefulSet. While members change, it has the members that the etcd lists. Running pods are not
 * restarted: only a pod that starts for the first time reads from its command which members it joins.
 */
export function wantedMembers(from: MembersFrom): WantedMembers {
  const wanted = wantedOf(from);
  const { settled = wanted, registered = settled } = annotated(from);
  const steady = { shape: steadyShape(wanted), settled: wanted };
  const { membership } = from;
  if (!isResized(from)) return steady;
  const count = membership?.members.length ?? registered;
  const hasLearner = membership?.members.some(({ isLearner }) => isLearner) === true;
  if (membership !== undefined && count === wanted && !hasLearner && !hasPod(from, count)) return steady;
  const shape = hasLearner
    ? { initial: count, joins: true, partition: count - 1 }
    : (liveShape(liveEtcd(from)) ?? steadyShape(settled));
  return { shape: { ...shape, replicas: count, dropsVolumes: true }, settled, registered: count };
}

/**
 * What the only member is started with now, which members have left. etcd reads these flags only when it has no data:
 * restarting its only member for them would stop all writes for nothing. Undefined: several members, or their number
 * changes. `shape`: the desired one.
 */
export function remainingShape(from: SpecAndLive, { shape }: Pick<WantedMembers, "shape">): MembersShape | undefined {
  const live = liveShape(liveEtcd(from));
  const isSettled = shape.replicas === 1 && !shape.dropsVolumes;
  // With a partition the pod runs what an earlier template had, which the steady shape has, too.
  if (!isSettled || live === undefined || live.partition !== 0) return undefined;
  return { ...shape, initial: live.initial, joins: live.joins };
}

function steadyShape(members: number): MembersShape {
  return { replicas: members, initial: members, joins: false, partition: 0, dropsVolumes: false };
}

/** What new pods of the StatefulSet start with now. */
function liveShape(etcd: StatefulSet | undefined): Omit<MembersShape, "replicas" | "dropsVolumes"> | undefined {
  const command = etcd?.spec.template.spec.containers[0]?.command ?? [];
  const initial = valueOf(command, "--initial-cluster")?.split(",").length;
  if (initial === undefined) return undefined;
  const { rollingUpdate } = (etcd?.spec.updateStrategy ?? {}) as { rollingUpdate?: { partition?: number } };
  const joins = valueOf(command, "--initial-cluster-state") === "existing";
  return { initial, joins, partition: rollingUpdate?.partition ?? 0 };
}

function valueOf(command: readonly string[], flag: string): string | undefined {
  return command.find((each) => each.startsWith(`${flag}=`))?.slice(flag.length + 1);
}

function hasPod({ pods }: Pick<MembersFrom, "pods">, ordinal: number): boolean {
  return podsOf(pods, "etcd").some(({ metadata }) => metadata.name === `etcd-${ordinal}`);
}

/**
 * The rules of another number of members: one at a time, only while all others are ready, so that there is a quorum all
 * the time. A new member receives all data before it votes. Members leave when no API server connects to them, after
 * the member that remains has become the leader. The etcd's own list records the progress, so that a crash repeats
 * nothing, and a request for the old number continues from there.
 * @param isSettled every object has its desired state
 */
export function memberSteps(from: MembersFrom, isSettled: boolean): Step[] {
  const { membership } = from;
  const keyspace = isResizing(from) ? keyspaceOf({ ...from, pool: undefined }) : undefined;
  if (keyspace === undefined || membership?.leader === undefined || !isSettled) return [];
  if (annotated(from).registered !== membership.members.length || membersProblem(from) !== undefined) return [];
  const { access } = keyspace;
  const { members } = membership;
  const wanted = wantedOf(from);
  const learner = members.find(({ isLearner }) => isLearner);
  if (learner !== undefined) {
    const { id } = learner;
    if (members.length > wanted) return [{ type: "remove-etcd-member", access, id }];
    return hasPod(from, members.length - 1) ? [{ type: "promote-etcd-member", access, id }] : [];
  }
  // If a member is not ready, the loss of another one would stop all writes.
  if (access.addresses.length < members.length || hasPod(from, members.length)) return [];
  if (members.length > wanted) return leaveSteps(from, membership, access);
  if (members.length === wanted || isRotated(from)) return [];
  return [{ type: "add-etcd-member", access, peerUrl: peerUrlOf(from.namespaceName, members.length) }];
}

function leaveSteps(
  from: MembersFrom,
  { members, leader }: NonNullable<Observed["membership"]>,
  access: NonNullable<ReturnType<typeof keyspaceOf>>["access"],
): Step[] {
  const [first, last] = [memberNamed(members, 0), memberNamed(members, members.length - 1)];
  if (first === undefined || last === undefined || !isGivenUp(from)) return [];
  if (leader !== first.id) return [{ type: "move-etcd-leader", access, to: first.id }];
  return [{ type: "remove-etcd-member", access, id: last.id }];
}

/** API servers run, all with those members only that remain. */
function isGivenUp(from: MembersFrom): boolean {
  const program = from.live.get("Deployment/kube-apiserver") as Deployment | undefined;
  return program === undefined || (serversOf(program) <= wantedOf(from) && isRolledOut(program));
}

const memberNamed = (members: NonNullable<Observed["membership"]>["members"], ordinal: number) =>
  members.find(({ name }) => name === `etcd-${ordinal}`);

/** Its authority is in the middle of a rotation, whose stages restart members. */
function isRotated({ live }: MembersFrom): boolean {
  return placeOf(live.get(`Secret/${copyName("etcd-ca")}`) as Secret | undefined).stage !== "single";
}

/** Milliseconds that the election of a leader may take; the etcd does not respond meanwhile. */
const ELECTION = 10_000;

/** The problem of an etcd whose members are to change, and which has not listed them for a while. */
export function membershipProblem(from: Observed, now: number): ControlPlaneProblem | undefined {
  const { membershipFailure, membersSince = -Infinity, namespaceName } = from;
  if (membershipFailure === undefined || !isResizing(from) || now - membersSince < ELECTION) return undefined;
  const message = `etcd in Namespace ${namespaceName} cannot be queried for its members, which are to change: ${membershipFailure.slice(0, 300)}`;
  return { code: "PODS_ETCD_UNREACHABLE", message, actor: "operator" };
}

/** Members that are not the first ones of the StatefulSet are left alone: the operator removes them. */
export function membersProblem(from: MembersFrom): ControlPlaneProblem | undefined {
  if (!isResized(from) || from.membership === undefined) return undefined;
  const { members } = from.membership;
  const isForeign = members.some((_, index) => memberNamed(members, index) === undefined);
  if (!isForeign && members.length > 0) return undefined;
  const names = members.map(({ name, id }) => name ?? id).join(", ");
  const message = `the members of etcd in Namespace ${from.namespaceName} are ${names}, which are not the first ones of StatefulSet etcd: remove the others with etcdctl member remove`;
  return { code: "PODS_MEMBERS_INVALID", message, actor: "operator" };
}
