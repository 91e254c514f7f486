import type { ControllerRevision, DaemonSet, DaemonSetStatus, Plan, Pod } from "@causeway/kubernetes";
import { claim, targetOf } from "../objects/claim.ts";
import { templateHash } from "../objects/pod-template.ts";
import { nextAvailability } from "../objects/pods.ts";
import { byRevision, findRevision, newRevision, outdatedRevisions, type RevisionStep } from "../objects/revisions.ts";
import type { Facts } from "./facts.ts";
import type { Observed } from "./gather.ts";
import { manage, none, type Changes } from "./manage.ts";
import { placementOf } from "./nodes.ts";
import { rollingUpdate } from "./rolling-update.ts";
import { statusOf } from "./status.ts";
import type { Step } from "./steps.ts";
import { hashLabel } from "./template.ts";

/** Pods created or deleted in one round, at most. */
const BURST = 250;

/** One pod on each eligible node: what kube-controller-manager's DaemonSet controller does in one sync. */
export function plan(observed: Observed, now: number): Plan<Step, DaemonSetStatus> {
  const { set } = observed;
  const standing = set.status ?? {
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    desiredNumberScheduled: 0,
    numberReady: 0,
  };
  if (set.metadata.deletionTimestamp !== undefined) return { steps: [], status: standing };
  const { owned: pods, steps: claims } = claim(set, set.spec.selector, [...observed.pods, ...observed.orphans]);
  const adoptions = claim(set, set.spec.selector, [...observed.revisions, ...observed.orphanRevisions]).steps.flatMap(
    ({ type, target }): Step[] => (type === "adopt" ? [{ type: "adopt-revision", target }] : []),
  );
  if (claims.length + adoptions.length > 0) return { steps: [...adoptions, ...claims], status: standing };
  const revision = revisionOf(set, observed.revisions);
  if ("step" in revision) return { steps: [revision.step], status: standing };
  const hash = revision.metadata.labels?.[hashLabel] ?? "";
  const facts: Facts = { observed, placement: placementOf(set, observed.nodes, pods), hash, now };
  const managed = manage(facts);
  const steps = stepsOf(facts, managed);
  const updated = steps.length > 0 || set.spec.updateStrategy?.type === "OnDelete" ? none : rollingUpdate(facts);
  const work = [...steps, ...stepsOf(facts, updated)];
  const moments = [managed.until, nextAvailability(pods, set.spec.minReadySeconds, now)].flatMap((at) => at ?? []);
  return {
    steps: work.length > 0 ? work : outdated(observed, pods, revision),
    status: statusOf(facts),
    events: managed.events,
    ...(moments.length === 0 ? {} : { wait: { for: "pods to be available", until: Math.min(...moments) } }),
  };
}

/** The revision of the template, or the step that makes it. */
function revisionOf(
  set: DaemonSet,
  revisions: readonly ControllerRevision[],
): ControllerRevision | { readonly step: RevisionStep } {
  const sorted = revisions.toSorted(byRevision);
  const { template } = set.spec;
  const next = (sorted.at(-1)?.revision ?? 0) + 1;
  const found = findRevision(sorted, template);
  if (!found) {
    const hash = templateHash(template, set.status?.collisionCount);
    return {
      step: { type: "create-revision", revision: newRevision(set, { template, number: next, hash, hashLabel }) },
    };
  }
  if (found === sorted.at(-1)) return found;
  return { step: { type: "renumber-revision", target: targetOf(found), revision: next } };
}

function stepsOf({ hash }: Facts, { create, remove, unavailable, failedOn }: Changes): Step[] {
  const removed = remove.slice(0, BURST);
  const nodes = create.slice(0, BURST);
  return [
    ...(nodes.length > 0 ? [{ type: "create-pods", nodes, hash, unavailable } as const] : []),
    ...(removed.length > 0
      ? [{ type: "delete-pods", targets: removed.map(targetOf), failedOn, unavailable } as const]
      : []),
  ];
}

function outdated({ set, revisions }: Observed, pods: readonly Pod[], current: ControllerRevision): Step[] {
  const sorted = revisions.toSorted(byRevision);
  const hashes = new Set(pods.map(({ metadata }) => metadata.labels?.[hashLabel]));
  const inUse = new Set(
    sorted
      .filter((each) => each === current || hashes.has(each.metadata.labels?.[hashLabel]))
      .map(({ metadata }) => metadata.name),
  );
  return outdatedRevisions(sorted, inUse, set.spec.revisionHistoryLimit ?? 10);
}
