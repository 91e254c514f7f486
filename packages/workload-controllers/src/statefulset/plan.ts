import type { Plan, Pod, StatefulSet, StatefulSetStatus } from "@causeway/kubernetes";
import { claim } from "../objects/claim.ts";
import { nextAvailability } from "../objects/pods.ts";
import { byRevision, outdatedRevisions } from "../objects/revisions.ts";
import type { Observed } from "./gather.ts";
import { ordinalOf } from "./identity.ts";
import { replicasWork } from "./replicas.ts";
import { revisionOf, statusOf } from "./status.ts";
import type { Step } from "./steps.ts";
import { updateWork } from "./update.ts";
import { revisionsOf, type Revisions } from "./versions.ts";

/** Keeps one pod for each ordinal: what kube-controller-manager's StatefulSet controller does in one sync. */
export function plan(observed: Observed, now: number): Plan<Step, StatefulSetStatus> {
  const { set } = observed;
  const { pods, steps: claims } = claimed(observed);
  const owned = claim(set, set.spec.selector, [...observed.revisions, ...observed.orphanRevisions]);
  const adoptions = owned.steps.flatMap(({ type, target }): Step[] =>
    type === "adopt" ? [{ type: "adopt-revision", target }] : [],
  );
  const standing = set.status ?? { replicas: 0 };
  if (claims.length + adoptions.length > 0) return { steps: [...adoptions, ...claims], status: standing };
  const revisions = revisionsOf(set, observed.revisions);
  if ("step" in revisions) {
    return isLeaving(set) ? { steps: [], status: standing } : { steps: [revisions.step], status: standing };
  }
  const status = statusOf(set, revisions, pods, now);
  if (isLeaving(set)) return { steps: [], status };
  const facts = { observed, pods, revisions, now };
  const replicas = replicasWork(facts);
  const isBlocked = replicas.steps.length > 0 || replicas.blocked;
  const work = isBlocked ? replicas.steps : updateWork(facts);
  const until = nextAvailability(pods, set.spec.minReadySeconds, now);
  return {
    steps: work.length > 0 ? work : outdated(observed, pods, revisions),
    status,
    events: replicas.events,
    ...(until === undefined ? {} : { wait: { for: "pods to be ready for minReadySeconds", until } }),
  };
}

function isLeaving({ metadata }: StatefulSet): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Pods with a name of the set that its selector fits. Those that ended belong to it, too: they keep their ordinal. */
function claimed({ set, pods, orphans }: Observed): { readonly pods: readonly Pod[]; readonly steps: readonly Step[] } {
  const isNamed = (pod: Pod) => ordinalOf(set, pod) !== undefined;
  const { owned, steps } = claim(set, set.spec.selector, [...pods, ...orphans.filter(isNamed)]);
  return { pods: owned.filter(isNamed), steps };
}

function outdated({ set, revisions }: Observed, pods: readonly Pod[], { current, update }: Revisions): Step[] {
  const inUse = new Set([current.metadata.name, update.metadata.name, ...pods.map((pod) => revisionOf(pod) ?? "")]);
  return outdatedRevisions(revisions.toSorted(byRevision), inUse, set.spec.revisionHistoryLimit ?? 10);
}
