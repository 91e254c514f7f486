import type { MagnumClusterStatus } from "@causeway/api";
import { timestamp } from "@causeway/kubernetes";
import type { Observed } from "./gather.ts";
import { rotationStage, type RotationFacts } from "./plan-rotation.ts";
import { namesOfPools } from "./pools.ts";

/** The best that was seen of a change: a later stage, or less that remains in the same one, is progress. */
export type Progress = NonNullable<MagnumClusterStatus["progress"]>;

interface ChangeFacts {
  readonly rotation: RotationFacts;
  readonly isControlPlaneReady: boolean;
  /** Objects are not yet as the cluster wants them: their status is of an earlier change. */
  readonly isWriting: boolean;
  /** When the change began, and now. */
  readonly since: number;
  readonly now: number;
}

/**
 * How far a change of a cluster is. Its time to fail begins again with each progress, so that a rotation or upgrade of
 * many nodes may take as long as it moves. What becomes worse and better again is none: the number of times that the
 * clock begins again is limited by the number of nodes.
 */
export function progressOf(observed: Observed, facts: ChangeFacts): Progress {
  const { status, metadata } = observed.object;
  const isSame = status?.observedGeneration === metadata.generation;
  const best = (isSame ? status?.progress : undefined) ?? { at: timestamp(facts.since) };
  const remaining = facts.isWriting ? undefined : remainingOf(observed);
  if (remaining === undefined) return best;
  const stage = stageOf(facts);
  const { stage: latest = -1, remaining: fewest = Infinity } = best;
  const isBetter = stage > latest || (stage === latest && remaining < fewest);
  return isBetter ? { stage, remaining, at: timestamp(facts.now) } : best;
}

const stages = { Preparing: 1, Rolling: 2, Retiring: 3, None: 4, Done: 4 } as const;

function stageOf({ rotation, isControlPlaneReady }: ChangeFacts): number {
  return isControlPlaneReady ? stages[rotationStage(rotation)] : 0;
}

/** Nodes that are to come, to become ready or to go; undefined: a MachineDeployment was not reconciled yet. */
function remainingOf({ object, deployments, machines }: Observed): number | undefined {
  const wanted = namesOfPools(object);
  const stale = deployments.some(
    ({ metadata, status }) => (status?.observedGeneration ?? 0) < (metadata.generation ?? 0),
  );
  if (stale || deployments.length < wanted.size) return undefined;
  const kept = deployments.filter(({ metadata }) => wanted.has(metadata.name));
  const nodes = kept.reduce((sum, { spec }) => sum + (spec.replicas ?? 1), 0);
  const outdated = kept.reduce(
    (sum, { spec, status }) => sum + Math.max(0, (spec.replicas ?? 1) - (status?.upToDateReplicas ?? 0)),
    0,
  );
  const unready = kept.reduce(
    (sum, { spec, status }) => sum + Math.max(0, (spec.replicas ?? 1) - (status?.readyReplicas ?? 0)),
    0,
  );
  return outdated + unready + Math.max(0, machines.length - nodes) + (deployments.length - kept.length);
}
