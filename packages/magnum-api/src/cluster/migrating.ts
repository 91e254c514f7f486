import type { MagnumCluster, MagnumClusterStatus } from "@causeway/api";
import type { Plan } from "@causeway/kubernetes";
import type { Decided } from "./plan-desired.ts";
import { heatFacts, heatVerdict, readHeat, type HeatReport } from "./heat.ts";
import { migratingAnnotation } from "./names.ts";
import { statusOf } from "./plan-status.ts";
import { publicText } from "./public-text.ts";
import type { Step } from "./steps.ts";

/**
 * How far the migration of a cluster is. A phase that is done leaves the cluster as it is until the next one begins.
 */
export interface MigrationState {
  readonly phase: string;
  readonly state: "Running" | "Done" | "Failed";
  /** When it made its last step. */
  readonly at: string;
  /** What a running phase waits for, in words. */
  readonly waitsFor?: string;
}

const states: readonly string[] = ["Running", "Done", "Failed"];
/** Ms without a step after which a phase has ended without a word: it gives up itself after 30 minutes. */
const SILENCE = 40 * 60_000;
/** Characters of what a phase waits for. */
const MOST = 1_000;

/** The Cluster, as the Magnum API shows one that is migrated. */
export const renderMigrating = ({ phase, state, at, waitsFor }: MigrationState): string =>
  `${phase} ${state} ${at}${waitsFor === undefined ? "" : ` ${waitsFor.slice(0, MOST)}`}`;

/** Undefined: the cluster is not being migrated. */
export function readMigrating({ metadata }: Pick<MagnumCluster, "metadata">): MigrationState | undefined {
  const value = metadata.annotations?.[migratingAnnotation];
  if (value === undefined) return undefined;
  const [phase = "", state = "", at = "", ...words] = value.split(" ");
  const isKnown = states.includes(state) && !Number.isNaN(Date.parse(at));
  const waiting = words.length > 0 ? { waitsFor: words.join(" ") } : {};
  return isKnown
    ? { phase, state: state as MigrationState["state"], at, ...waiting }
    : { phase, state: "Running", at: metadata.creationTimestamp ?? "" };
}

/** A cluster of Heat's that is only shown. */
function planShown(observed: Decided, heat: HeatReport, now: number): Plan<Step, MagnumClusterStatus> {
  const { object } = observed;
  const { code: _, changingSince: __, progress: ___, masters: ____, ...seen } = statusOf(observed, true, now).status;
  const status = { ...seen, ...heatFacts(heat, object), ...heatVerdict(heat, object.spec.name), created: true };
  return { steps: [], status };
}

/**
 * The migration writes the cluster's objects, and clients may change nothing meanwhile; none of its states lasts for
 * ever as a change in progress.
 */
export function planMigrating(
  observed: Decided,
  migrating: MigrationState,
  now: number,
): Plan<Step, MagnumClusterStatus> {
  const { object } = observed;
  const heat = readHeat(object);
  if (heat !== undefined && migrating.phase === "discover") return planShown(observed, heat, now);
  const { phase, at, waitsFor } = migrating;
  const silentAt = Date.parse(at) + SILENCE;
  const state = migrating.state === "Running" && !(now < silentAt) ? "Silent" : migrating.state;
  const command = `causeway migrate magnum ${phase} ${object.spec.name}`;
  const verdict = {
    Running: {
      status: "UPDATE_IN_PROGRESS",
      reason: `Phase ${phase} of the migration from Heat runs${waitsFor === undefined ? "." : `. It waits for ${publicText(waitsFor, object.metadata.namespace ?? "")}`}`,
    },
    Done: {
      status: "UPDATE_COMPLETE",
      reason: `Phase ${phase} of the migration from Heat is done. Changes are refused until its last phase, retire, is done.`,
    },
    Failed: {
      status: "UPDATE_FAILED",
      reason: `Phase ${phase} of the migration from Heat failed at ${at}. Run "${command}" again, or rollback.`,
    },
    Silent: {
      status: "UPDATE_FAILED",
      reason: `Phase ${phase} of the migration from Heat made no step since ${at}. Run "${command}" again, or rollback.`,
    },
  } as const;
  const { status, reason } = verdict[state];
  const { code: _, changingSince: __, progress: ___, masters: ____, ...seen } = statusOf(observed, true, now).status;
  // Until there is a control plane of ours, what Heat has is what there is.
  const heats = heat !== undefined && seen.apiAddress === undefined ? heatFacts(heat, object) : {};
  const nodeGroups = (heats.nodeGroups ?? seen.nodeGroups ?? []).map((group) => ({ ...group, status, reason: "" }));
  return {
    steps: [],
    status: { ...seen, ...heats, status, reason, created: true, nodeGroups },
    ...(state === "Running" ? { wait: { for: `phase ${phase} of the migration`, until: silentAt } } : {}),
  };
}
