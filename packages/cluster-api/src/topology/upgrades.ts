import { annotations } from "@causeway/api";
import type { UpgradePath } from "./upgrade-plan.ts";
import { upgradePath } from "./upgrade-plan.ts";
import { compareBuilds, isSameVersion } from "../objects/versions.ts";

/** Workers of a topology, as far as their version goes. */
export interface WorkersVersion {
  /** Their name in the topology. */
  readonly topologyName: string;
  /** Annotations in the topology. */
  readonly notes: Readonly<Record<string, string>>;
  /** What there is; undefined before they are created. */
  readonly current?: {
    readonly name: string;
    readonly version: string | undefined;
    /** Some of its machines do not have its version yet. */
    readonly isUpgrading: boolean;
  };
}

/** Versions of a topology, as they are and as they are wanted. */
export interface ObservedVersions {
  readonly desired: string;
  readonly known: readonly string[] | undefined;
  /** How many workers are upgraded at once. */
  readonly concurrency: number;
  /** undefined before it is created. */
  readonly controlPlane: { readonly version: string; readonly reached: string | undefined } | undefined;
  /** MachineDeployments, in the order of the topology. */
  readonly workers: readonly WorkersVersion[];
  /** MachinePools, in the order of the topology. */
  readonly pools?: readonly WorkersVersion[];
  /** Not to be moved now: hooks hold them back. */
  readonly hold?: { readonly controlPlane?: boolean; readonly workers?: boolean } | undefined;
}

/** The version that workers get now. */
export interface WorkersDecision {
  readonly version: string;
  /** Not created before the control plane is stable. */
  readonly waitsForCreation?: true;
}

/** Where the workers of one kind are in an upgrade. */
export interface WorkersProgress {
  /** Names of their objects. */
  readonly upgrading: readonly string[];
  readonly pending: readonly string[];
  readonly deferred: readonly string[];
  /** Names in the topology. */
  readonly waitingForCreation: readonly string[];
}

/** The versions to ask for now, and what is still to come. */
export interface Upgrades {
  readonly controlPlane: string;
  /** Of MachineDeployments, by their name in the topology. */
  readonly workers: ReadonlyMap<string, WorkersDecision>;
  /** Of MachinePools, by their name in the topology. */
  readonly pools: ReadonlyMap<string, WorkersDecision>;
  readonly path: UpgradePath;
  readonly isProvisioning: boolean;
  /** The control plane gets another version now. */
  readonly starts: boolean;
  /** The control plane is on its way to a version. */
  readonly controlPlaneMoves: boolean;
  readonly controlPlanePending: boolean;
  readonly deployments: WorkersProgress;
  readonly machinePools: WorkersProgress;
}

/**
 * Cluster API's order: the control plane first, one version at a time and never while workers move; then workers, as
 * many MachineDeployments and as many MachinePools at once as the annotation upgrade-concurrency says (one without it),
 * in the order of the topology.
 */
export function planUpgrades(observed: ObservedVersions): Upgrades {
  const { desired, controlPlane, workers, hold } = observed;
  const pools = observed.pools ?? [];
  if (!controlPlane) return atCreation(observed);
  const path = pathOf(observed, controlPlane.version);
  const pendingBefore = !isSameVersion(controlPlane.version, desired);
  const isProvisioning = controlPlane.reached === undefined;
  const isMoving = isOnItsWay(controlPlane);
  const waitsForWorkers = path.workers[0] !== undefined && isSameVersion(path.workers[0], controlPlane.version);
  const moving = upgradingOf([...workers, ...pools]);
  const isFree = !isProvisioning && !isMoving && !waitsForWorkers && moving.length === 0;
  const starts = pendingBefore && isFree && hold?.controlPlane !== true;
  const version = starts ? (path.controlPlane[0] ?? desired) : controlPlane.version;
  const isStable = !isProvisioning && !isMoving && !starts && !pendingBefore;
  const mayMove = isStable || isBetweenSteps({ isProvisioning, isMoving, starts, waitsForWorkers });
  const rules = { mayMove: mayMove && hold?.workers !== true, mayCreate: isStable, target: targetOf(path, desired) };
  const ofDeployments = decideAll(observed, workers, rules);
  const ofPools = decideAll(observed, pools, rules);
  return {
    controlPlane: version,
    workers: ofDeployments.decisions,
    pools: ofPools.decisions,
    path,
    isProvisioning,
    starts,
    controlPlaneMoves: starts || isMoving,
    controlPlanePending: pendingBefore && !starts,
    deployments: ofDeployments.progress,
    machinePools: ofPools.progress,
  };
}

/** The version that workers are to have next. */
function targetOf({ workers: [next] }: UpgradePath, desired: string): string {
  return next ?? desired;
}

/** What some workers get, and where they are then. */
function decideAll(
  observed: ObservedVersions,
  workers: readonly WorkersVersion[],
  rules: Rules,
): { readonly decisions: ReadonlyMap<string, WorkersDecision>; readonly progress: WorkersProgress } {
  const upgrading = new Set(upgradingOf(workers));
  const tracker: Tracker = { ...rules, upgrading, pending: [], deferred: [], waitingForCreation: [] };
  const decisions = new Map(
    workers.map((one) => [one.topologyName, decide({ ...observed, workers }, one, tracker)] as const),
  );
  const progress = {
    upgrading: [...upgrading],
    pending: tracker.pending.filter((name) => !upgrading.has(name) && !tracker.deferred.includes(name)),
    deferred: tracker.deferred.filter((name) => !upgrading.has(name)),
    waitingForCreation: tracker.waitingForCreation,
  };
  return { decisions, progress };
}

function upgradingOf(workers: readonly WorkersVersion[]): string[] {
  return workers.flatMap(({ current }) => (current?.isUpgrading ? [current.name] : []));
}

function isOnItsWay({ version, reached }: NonNullable<ObservedVersions["controlPlane"]>): boolean {
  return reached !== undefined && compareBuilds(version, reached) > 0;
}

/** The control plane has a version on the way, which the workers are to have before its next one. */
function isBetweenSteps(
  seen: Readonly<Record<"isProvisioning" | "isMoving" | "starts" | "waitsForWorkers", boolean>>,
): boolean {
  return seen.waitsForWorkers && !seen.isProvisioning && !seen.isMoving && !seen.starts;
}

function atCreation({ desired, workers, pools = [] }: ObservedVersions): Upgrades {
  const kept = (list: readonly WorkersVersion[]) =>
    new Map(list.map(({ topologyName, current }) => [topologyName, { version: current?.version ?? desired }]));
  const progress = (list: readonly WorkersVersion[]): WorkersProgress => ({
    upgrading: upgradingOf(list),
    pending: [],
    deferred: [],
    waitingForCreation: [],
  });
  return {
    controlPlane: desired,
    workers: kept(workers),
    pools: kept(pools),
    path: { controlPlane: [], workers: [] },
    isProvisioning: false,
    starts: false,
    controlPlaneMoves: false,
    controlPlanePending: false,
    deployments: progress(workers),
    machinePools: progress(pools),
  };
}

function pathOf({ desired, known, workers, pools = [] }: ObservedVersions, controlPlane: string): UpgradePath {
  const versions = [...workers, ...pools].flatMap(({ current }) => (current?.version ? [current.version] : []));
  const oldestWorkers = versions.reduce<string | undefined>(
    (oldest, one) => (oldest === undefined || isOlder(one, oldest, controlPlane) ? one : oldest),
    undefined,
  );
  return upgradePath({ desired, controlPlane, oldestWorkers, known });
}

/** Of two builds of a version the one that the control plane does not have is the older. */
function isOlder(one: string, other: string, controlPlane: string): boolean {
  const order = compareBuilds(one, other);
  return order === 2 ? !isSameVersion(one, controlPlane) : order < 0;
}

interface Rules {
  readonly mayMove: boolean;
  readonly mayCreate: boolean;
  readonly target: string;
}

interface Tracker extends Rules {
  readonly upgrading: Set<string>;
  readonly pending: string[];
  readonly deferred: string[];
  readonly waitingForCreation: string[];
}

function decide(
  { desired, concurrency, workers }: ObservedVersions,
  one: WorkersVersion,
  tracker: Tracker,
): WorkersDecision {
  const { current, topologyName } = one;
  if (!current) {
    if (tracker.mayCreate) return { version: desired };
    tracker.waitingForCreation.push(topologyName);
    return { version: desired, waitsForCreation: true };
  }
  const version = current.version ?? desired;
  if (isSameVersion(version, desired)) return { version };
  const isDeferred = defers(one) || isHeld(workers, topologyName);
  if (isDeferred) tracker.deferred.push(current.name);
  const isFull = tracker.upgrading.size >= concurrency;
  if (isDeferred || isFull || !tracker.mayMove || isSameVersion(version, tracker.target)) {
    tracker.pending.push(current.name);
    return { version };
  }
  tracker.upgrading.add(current.name);
  return { version: tracker.target };
}

function defers({ notes }: WorkersVersion): boolean {
  return notes[annotations.deferUpgrade] !== undefined;
}

/** The annotation hold-upgrade-sequence holds its workers back, and all that come after them. */
function isHeld(workers: readonly WorkersVersion[], topologyName: string): boolean {
  const holding = workers.findIndex(({ notes }) => notes[annotations.holdUpgradeSequence] !== undefined);
  return holding !== -1 && workers.findIndex((one) => one.topologyName === topologyName) >= holding;
}
