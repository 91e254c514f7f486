import { shortList } from "@causeway/foundation";
import type { WantedCondition } from "@causeway/kubernetes";
import type { HostedControlPlane } from "@causeway/api";
import type { ControlPlaneSpec } from "../runtime.ts";
import { rotatedPurposes, type AuthorityFacts, type Root, type RootStage, type RotatedPurpose } from "./roots.ts";
import type { Step } from "./steps.ts";

type AuthoritiesStatus = NonNullable<NonNullable<HostedControlPlane["status"]>["authorities"]>;
type Phase = NonNullable<AuthoritiesStatus["phase"]>;

/** What the rotation of the roots of a control plane depends on. */
export interface AuthoritiesFrom {
  readonly object: HostedControlPlane;
  readonly facts: AuthorityFacts;
  readonly initialized: boolean;
  /** The runtime runs with the roots as they are, everywhere, and the kubeconfig has them. */
  readonly settled: boolean;
  readonly now: number;
}

/** What to do about a rotation now, and what is reported of it. */
export interface AuthoritiesPlan {
  /** Bring the roots that are behind to where the others are: done before anything runs with half of a rotation. */
  readonly catchUp: readonly Step[];
  /** Continue with the rotation, once everything has settled. */
  readonly advance: readonly Step[];
  readonly status: AuthoritiesStatus;
  readonly conditions: readonly WantedCondition[];
  /** When to check again. */
  readonly until?: number;
}

const DAY = 24 * 3600_000;
/** A warning comes so long before an authority expires. */
const EXPIRES_SOON = 180 * DAY;
/** Machines are checked again after so long. */
const MACHINES_AGAIN = 15_000;
const NAMED = 20;

/** The stage after each. */
const following: Readonly<Record<RootStage, RootStage>> = {
  single: "trust",
  trust: "sign",
  sign: "retire",
  retire: "single",
};

/**
 * The rules of a rotation: the next authority is trusted everywhere before it signs anything, and the old one is
 * trusted until its retirement is requested and no Machine needs it. Each stage is one write of a root's Secret, so
 * that a crash leaves one stage or the next, and the second of two leaders meets a conflict.
 */
export function planAuthorities(from: AuthoritiesFrom): AuthoritiesPlan {
  const { facts, object, now, settled } = from;
  const stage = stageOf(facts);
  const none = { catchUp: [], advance: [] };
  if (stage === undefined) return { ...none, status: brokenStatus(from), conditions: [no("RotationBroken", broken)] };
  if ("behind" in stage) {
    const { behind, to } = stage;
    const rotation = rotationIn(participants(facts), to) ?? "";
    const catchUp = behind.map((purpose): Step => ({ type: "rotate-root", purpose, to, rotation }));
    // Whichever of them are behind: all continue in the same stage.
    const phase = to === "trust" || to === "sign" ? "trust" : "retire";
    return { ...none, catchUp, status: statusOf(from, phase), conditions: [no("Rotating", running(phase))] };
  }
  const { at } = stage;
  const hold = holdOf(from, at);
  const rotation = at === "single" ? (wantedRotation(from) ?? "") : (facts.roots.ca.rotation ?? "");
  const to = following[at];
  const steps = participants(facts).map(([purpose]): Step => ({ type: "rotate-root", purpose, to, rotation }));
  const until = checkAgain(object, { at, now });
  return {
    catchUp: [],
    advance: hold === undefined && settled ? steps : [],
    status: statusOf(from, at),
    conditions: conditionsOf(from, at, hold),
    ...(until === undefined ? {} : { until }),
  };
}

type Where =
  | { readonly at: RootStage }
  | { readonly behind: readonly RotatedPurpose[]; readonly to: RootStage }
  | undefined;

/**
 * The roots that a rotation is of. One that was begun by a version that knew nothing of the front proxy's continues
 * without it: that one has no part before the next rotation.
 */
function participants({ roots }: AuthorityFacts): (readonly [RotatedPurpose, Root])[] {
  const isUnderWay = roots.ca.stage === "sign" || roots.ca.stage === "retire";
  return rotatedPurposes.flatMap((purpose): (readonly [RotatedPurpose, Root])[] => {
    const root = roots[purpose];
    const isLeftOut =
      purpose === "proxy" && isUnderWay && root?.stage === "single" && root.rotation !== roots.ca.rotation;
    return root === undefined || isLeftOut ? [] : [[purpose, root]];
  });
}

/** Where all roots are; which ones are a stage behind; undefined: their Secrets contradict each other. */
function stageOf(facts: AuthorityFacts): Where {
  const all = participants(facts);
  for (const [, { stage, other }] of all)
    if ((stage === "trust" || stage === "sign") !== (other !== undefined)) return undefined;
  const stages = [...new Set(all.map(([, { stage }]) => stage))];
  const [one, two, ...more] = stages;
  if (one === undefined || more.length > 0) return undefined;
  if (two === undefined) return { at: one };
  const to = following[one] === two ? two : following[two] === one ? one : undefined;
  if (to === undefined || rotationIn(all, to) === undefined) return undefined;
  return { behind: all.flatMap(([purpose, { stage }]) => (stage === to ? [] : [purpose])), to };
}

/** The rotateAfter that brought roots to this stage. */
function rotationIn(all: ReturnType<typeof participants>, stage: RootStage): string | undefined {
  return all.find(([, root]) => root.stage === stage && root.rotation !== undefined)?.[1].rotation;
}

/** The rotateAfter that has been reached and that the authority is older than. */
function wantedRotation({ object, facts, now, initialized }: AuthoritiesFrom): string | undefined {
  const wanted = object.spec.authorities?.rotateAfter;
  if (wanted === undefined || !initialized) return undefined;
  const at = Date.parse(wanted);
  const since = Math.max(facts.createdAt, timeOf(facts.roots.ca.rotation) ?? 0);
  return at <= now && since < at ? wanted : undefined;
}

function timeOf(text: string | undefined): number | undefined {
  const at = Date.parse(text ?? "");
  return Number.isNaN(at) ? undefined : at;
}

/**
 * Names of the Machines that may have a certificate of the old authority: until all of the control plane signs with the
 * new one, a new Machine may still get one.
 */
export function oldMachines({ object, facts }: Pick<AuthoritiesFrom, "object" | "facts">): readonly string[] {
  const { phase, rotation, rotatedAt } = object.status?.authorities ?? {};
  const isPrepared = phase === "Prepared" && rotation === facts.roots.ca.rotation;
  const since = isPrepared ? (timeOf(rotatedAt) ?? Infinity) : Infinity;
  return facts.machines
    .filter(({ createdAt }) => !(createdAt >= since))
    .map(({ name }) => name)
    .toSorted();
}

interface Hold {
  readonly reason: string;
  readonly message: string;
}

/** Why the rotation does not continue from this stage by itself; undefined: it does. */
function holdOf(from: AuthoritiesFrom, at: RootStage): Hold | undefined {
  const { object, facts, now } = from;
  if (at === "single") return wantedRotation(from) === undefined ? { reason: "Current", message: "" } : undefined;
  if (at !== "sign") return undefined;
  const { retireOldAfter, ignoreMachines } = object.spec.authorities ?? {};
  const retireAt = timeOf(retireOldAfter);
  const isForThis = retireAt !== undefined && retireAt >= (timeOf(facts.roots.ca.rotation) ?? 0);
  if (!isForThis || retireAt > now) return { reason: "Prepared", message: prepared(from, retireOldAfter) };
  const machines = oldMachines(from);
  if (machines.length === 0 || ignoreMachines === true) return undefined;
  const message = `the old authority cannot be retired: ${named(machines)} were made before the new one was known, and would not reach the control plane; replace them, or set spec.authorities.ignoreMachines (CONTROL_PLANE_MACHINES_OLD)`;
  return { reason: "MachinesRemain", message };
}

function prepared(from: AuthoritiesFrom, retireOldAfter: string | undefined): string {
  const old = oldMachines(from);
  const machines = old.length === 0 ? "" : `replace ${named(old)} and `;
  const retire =
    retireOldAfter === undefined
      ? "set spec.authorities.retireOldAfter when clients have new certificates and kubeconfigs"
      : `wait for spec.authorities.retireOldAfter, ${retireOldAfter}`;
  return `the new authority signs, and the old one is trusted too: ${machines}${retire} (CONTROL_PLANE_ROTATION_WAITS)`;
}

function named(machines: readonly string[]): string {
  return `Machines ${shortList(machines, 3)}`;
}

const broken =
  "Secrets CLUSTER-ca, CLUSTER-sa and CLUSTER-proxy are in different stages of a rotation, or lack other.crt and other.key; restore them from a backup of the same time (CONTROL_PLANE_ROTATION_BROKEN)";

function running(at: RootStage): string {
  const what = at === "retire" ? "the old authority is being removed" : "the new authority is being distributed";
  return `${what}; no action is needed (CONTROL_PLANE_ROTATION_RUNNING)`;
}

const type = "AuthoritiesCurrent";
const no = (reason: string, message: string): WantedCondition => ({ type, status: "False", reason, message });

/** Without a rotation there is no condition, so that there is nothing to explain. */
function conditionsOf(from: AuthoritiesFrom, at: RootStage, hold: Hold | undefined): WantedCondition[] {
  const { object, facts, now, settled } = from;
  if (at !== "single") {
    const phase = statusOf(from, at).phase;
    if (hold !== undefined && (settled || phase === "Prepared")) return [no(hold.reason, hold.message)];
    return [no("Rotating", running(at))];
  }
  if (hold === undefined) return [no("Rotating", running(at))];
  if (facts.expiresAt - now < EXPIRES_SOON) {
    const message = `the certificate authority expires at ${instant(facts.expiresAt)}: set spec.authorities.rotateAfter (CONTROL_PLANE_AUTHORITY_EXPIRES)`;
    return [no("ExpiresSoon", message)];
  }
  const isKnown = object.spec.authorities !== undefined || facts.roots.ca.rotation !== undefined;
  return isKnown ? [{ type, status: "True", reason: "Current" }] : [];
}

/** Prepared once is prepared: an API server that restarts does not change that. */
function phaseOf({ object, facts, settled }: AuthoritiesFrom, at: RootStage): Phase {
  if (at === "single") return "Current";
  if (at !== "sign") return at === "trust" ? "Preparing" : "Retiring";
  const before = object.status?.authorities;
  const wasPrepared = before?.phase === "Prepared" && before.rotation === facts.roots.ca.rotation;
  return settled || wasPrepared ? "Prepared" : "Preparing";
}

function statusOf(from: AuthoritiesFrom, at: RootStage): AuthoritiesStatus {
  const { expiresAt, roots } = from.facts;
  const machines = oldMachines(from);
  const { rotation, retiredAt } = roots.ca;
  const phase = phaseOf(from, at);
  const rotatedAt = rotatedAtOf(from, phase);
  return {
    phase,
    expiresAt: instant(expiresAt),
    ...(rotation === undefined ? {} : { rotation }),
    ...(rotatedAt === undefined ? {} : { rotatedAt }),
    ...(retiredAt === undefined ? {} : { retiredAt }),
    ...(machines.length === 0 ? {} : { machines: { count: machines.length, names: machines.slice(0, NAMED) } }),
  };
}

/**
 * When all of the control plane signed with the new authority, in whole seconds, rounded up: a Machine of that second
 * or later has no certificate of the old one.
 */
function rotatedAtOf({ object, facts, now }: AuthoritiesFrom, phase: Phase): string | undefined {
  const before = object.status?.authorities;
  const known = before?.rotation === facts.roots.ca.rotation ? before?.rotatedAt : undefined;
  return known ?? (phase === "Prepared" ? instant(Math.ceil(now / 1000) * 1000) : undefined);
}

/** It says what it said. */
function brokenStatus(from: AuthoritiesFrom): AuthoritiesStatus {
  return { ...statusOf(from, "trust"), phase: from.object.status?.authorities?.phase ?? "Preparing" };
}

function checkAgain({ spec }: HostedControlPlane, { at, now }: { at: RootStage; now: number }): number | undefined {
  const times = [spec.authorities?.rotateAfter, spec.authorities?.retireOldAfter].flatMap((text) => timeOf(text) ?? []);
  const next = Math.min(...times.filter((time) => time > now), ...(at === "sign" ? [now + MACHINES_AGAIN] : []));
  return Number.isFinite(next) ? next : undefined;
}

/** `2026-01-02T03:04:05Z` for milliseconds since epoch: RFC 3339 in whole seconds. */
export function instant(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** The roots whose rotation has not ended, with both of their pairs. */
export function rotatingOf({ roots }: AuthorityFacts): Pick<ControlPlaneSpec, "rotating"> {
  const rotating = rotatedPurposes.flatMap((purpose) => {
    const { stage = "single", rotation, other } = roots[purpose] ?? {};
    if (stage === "single" || rotation === undefined) return [];
    return [[purpose, { stage, rotation, ...(other === undefined ? {} : { other }) }] as const];
  });
  return rotating.length === 0 ? {} : { rotating: Object.fromEntries(rotating) };
}

/** What the runtime has to know of roots next to those that sign. */
export function rotationOf({
  roots: { ca, sa },
}: AuthorityFacts): Pick<ControlPlaneSpec, "rotation" | "rotationStage"> {
  const known: Pick<ControlPlaneSpec, "rotationStage"> =
    ca.rotation === undefined ? {} : { rotationStage: { id: ca.rotation, stage: ca.stage } };
  if (ca.other === undefined && sa.other === undefined) return known;
  const older = (root: Root) => (root.stage === "sign" ? (root.other ?? root.pair) : root.pair);
  return {
    ...known,
    rotation: {
      trusted: ca.other === undefined ? [] : [ca.other.certificate],
      serving: older(ca),
      accountKeys: sa.other === undefined ? [] : [sa.other.certificate],
    },
  };
}
