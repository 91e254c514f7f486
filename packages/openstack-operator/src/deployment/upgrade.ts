import {
  OPENSTACK_RELEASES,
  type OpenStackDeployment,
  type OpenStackDeploymentStatus,
  type OpenStackRelease,
} from "@causeway/api";
import {
  getCondition,
  setConditions,
  timestamp,
  type Deployment,
  type KubeObject,
  type Plan,
  type WantedCondition,
} from "@causeway/kubernetes";
import { plainName } from "../model/cell.ts";
import type { Component } from "../model/component.ts";
import { annotations } from "../model/names.ts";
import { isDone, type Judged } from "./components.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

type UpgradeStatus = NonNullable<OpenStackDeploymentStatus["upgrade"]>;

/** What an upgrade's steps are read from. */
export interface UpgradeProgress {
  readonly judged: ReadonlyMap<string, Judged>;
  /** No process of the older release is left, and Nova's start again without the limit to its messages. */
  readonly isUnpinned: boolean;
}

/**
 * An upgrade from the release that runs to the one that is wanted. Its progress is what exists: Jobs that ended,
 * workloads that were rolled.
 */
export interface Upgrade {
  readonly from: string;
  readonly to: string;
  status(progress: UpgradeProgress, now: number): UpgradeStatus;
}

/** The upgrade that is under way; undefined: the release that runs is the wanted one, or none ran yet. */
export function upgradeOf({ spec, status }: OpenStackDeployment): Upgrade | undefined {
  const { release: from, upgrade: before } = status ?? {};
  if (from === undefined || from === spec.release) return undefined;
  return {
    from,
    to: spec.release,
    status(progress, now) {
      const steps = stepsOf(progress);
      return {
        from,
        to: spec.release,
        step: steps.find(({ isOver }) => !isOver)?.name ?? "Finishing",
        done: steps.filter(({ isOver }) => isOver).map(({ name }) => name),
        startedAt: before?.startedAt ?? timestamp(now),
      };
    },
  };
}

const ROWS = "-online-migrations";

/** Is nothing left, or the migration of rows alone, which failed? Everything runs in its new release then. */
export function lacksRowsAtMost(judged: ReadonlyMap<string, Judged>): boolean {
  const left = [...judged.values()].filter((each) => !isDone(each));
  return left.every(({ component, readiness }) => readiness.state === "Failed" && plainName(component).endsWith(ROWS));
}

/** What the deployment says about an upgrade that has to wait. */
const HELD = "UpgradeHeld";

/**
 * Plans with the release of the upgrade that is under way, or with the first one on the way to the release that is
 * wanted: one upgrade is over before the next one begins, and a condition says so.
 */
export function oneUpgradeAtATime(
  observed: Observed,
  now: number,
  planned: (observed: Observed) => Plan<Step, OpenStackDeploymentStatus>,
): Plan<Step, OpenStackDeploymentStatus> {
  const { deployment } = observed;
  const first = withReleaseNow(deployment);
  const { release } = first.spec;
  const isHeld = first !== deployment;
  const result = planned(isHeld ? { ...observed, deployment: first } : observed);
  const before = deployment.status?.conditions;
  if (!isHeld && !getCondition(before, HELD)) return result;
  const failed = result.status.components?.find(({ state }) => state === "Failed");
  const why = failed ? (failed.rootCause ?? `${failed.name}: ${failed.step ?? ""}`) : "it is under way";
  const message = `the upgrade to ${deployment.spec.release} comes after the one to ${release}: ${why}`.slice(0, 4_000);
  const condition: WantedCondition = isHeld
    ? { type: HELD, status: "True", reason: "EarlierUpgradeUnfinished", message }
    : { type: HELD, status: "False", reason: "NoOtherUpgrade", message: "" };
  const conditions = setConditions(result.status.conditions ?? before, [condition], {
    generation: deployment.metadata.generation,
    now,
  });
  return { ...result, status: { ...result.status, conditions } };
}

/** The deployment with the release that it is brought to first; itself where that is the one that is wanted. */
export function withReleaseNow(deployment: OpenStackDeployment): OpenStackDeployment {
  const release = releaseNow(deployment);
  return release === deployment.spec.release ? deployment : { ...deployment, spec: { ...deployment.spec, release } };
}

function releaseNow({ spec, status }: OpenStackDeployment): OpenStackRelease {
  const { release: from, upgrade } = status ?? {};
  const all = OPENSTACK_RELEASES.map(({ release }) => release);
  const at = all.findIndex((release) => release === from);
  const next = OPENSTACK_RELEASES[at + 1];
  if (at < 0 || !next || from === spec.release) return spec.release;
  // What was begun is ended; a specification cannot be lowered, and was that release once.
  const begun = all.find((release) => release === upgrade?.to && upgrade.from === from);
  if (begun !== undefined) return begun;
  const afterNext = OPENSTACK_RELEASES[at + 2];
  const skips = OPENSTACK_RELEASES[at]?.slurp === true && afterNext?.release === spec.release && afterNext.slurp;
  return skips ? spec.release : next.release;
}

/**
 * Whether the limit to messages of the older release is lifted: once no process of that release is left, and from then
 * on, so that a compute node that fails meanwhile does not bring it back.
 */
export function isUnpinned(to: string, judged: ReadonlyMap<string, Judged>, objects: Observed["objects"]): boolean {
  const isLifted = (object: KubeObject) =>
    object.kind === "Deployment" &&
    (object as Deployment).spec.template.metadata?.annotations?.[annotations.messages] === to;
  const computes = [...judged.values()].filter(({ component }) => plainName(component) === "nova-compute");
  return (computes.length > 0 && computes.every(isDone)) || [...objects.values()].some(isLifted);
}

interface UpgradeStep {
  /** Type of its condition. */
  readonly name: string;
  readonly has: (component: Component) => boolean;
  /** It was over when the limit to messages was lifted, for which Nova's processes start once more. */
  readonly isBeforeUnpinning?: boolean;
  readonly isUnpinning?: boolean;
}

const isNamed =
  (...names: readonly string[]): UpgradeStep["has"] =>
  (component) =>
    names.includes(plainName(component));
const isJob =
  (...suffixes: readonly string[]): UpgradeStep["has"] =>
  (component) =>
    component.kind === "Job" && suffixes.some((suffix) => plainName(component).endsWith(suffix));
const isProcess: UpgradeStep["has"] = ({ kind }) => kind === "Deployment" || kind === "StatefulSet";
const isNova: UpgradeStep["has"] = (component) => component.service === "nova" && isProcess(component);

/** The steps of an upgrade in their order. Each is a condition of the deployment while it is upgraded. */
const UPGRADE_STEPS: readonly UpgradeStep[] = [
  { name: "UpgradeChecked", has: isJob("-upgrade-check") },
  { name: "PlacementUpdated", has: isNamed("placement-db-sync", "placement-api") },
  { name: "NovaApiSchemaExpanded", has: isNamed("nova-db-sync") },
  { name: "NovaCellSchemasExpanded", has: isNamed("nova-cell-sync") },
  { name: "SchemasExpanded", has: isJob("-db-sync", "-cell-sync") },
  { name: "NovaConductorsUpdated", has: isNamed("nova-super-conductor", "nova-conductor"), isBeforeUnpinning: true },
  { name: "NovaSchedulerUpdated", has: isNamed("nova-scheduler"), isBeforeUnpinning: true },
  { name: "NovaApiUpdated", has: isNamed("nova-api", "nova-metadata"), isBeforeUnpinning: true },
  { name: "ControlPlaneUpdated", has: isProcess, isBeforeUnpinning: true },
  { name: "ComputeNodesUpdated", has: ({ kind }) => kind === "DaemonSet" },
  { name: "NovaMessagesUnpinned", has: isNova, isUnpinning: true },
  { name: "DataMigrated", has: isJob(ROWS) },
  { name: "SchemasContracted", has: isJob("-contract") },
];

interface UpgradeProgressStep {
  readonly name: string;
  readonly isOver: boolean;
  /** The component that holds it back, and failed. */
  readonly failed: string | undefined;
}

/** The steps that this deployment has, and how far it is. */
export function stepsOf({ judged, isUnpinned: isLifted }: UpgradeProgress): UpgradeProgressStep[] {
  return UPGRADE_STEPS.flatMap(({ name, has, isBeforeUnpinning, isUnpinning }) => {
    const all = [...judged.values()].filter(({ component }) => has(component));
    if (all.length === 0) return [];
    const open = all.filter((each) => !isDone(each) && !(isBeforeUnpinning && isLifted && isNova(each.component)));
    const failed = open.find(({ readiness }) => readiness.state === "Failed")?.component.name;
    return [{ name, isOver: open.length === 0 && (isLifted || !isUnpinning), failed }];
  });
}
