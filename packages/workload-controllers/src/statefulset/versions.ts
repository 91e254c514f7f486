import type { ControllerRevision, StatefulSet } from "@causeway/kubernetes";
import { targetOf } from "../objects/claim.ts";
import { templateHash } from "../objects/pod-template.ts";
import { byRevision, findRevision, newRevision, templateOf, type RevisionStep } from "../objects/revisions.ts";
import { firstOrdinal, type Version } from "./identity.ts";

const hashLabel = "controller.kubernetes.io/hash";

/** The two revisions of a rolling update; without one both are the same. */
export interface Revisions {
  /** Of the pods that are not updated yet. */
  readonly current: ControllerRevision;
  /** Of the set's template. */
  readonly update: ControllerRevision;
}

/** The revisions of a set, or the step that makes the one of its template. */
export function revisionsOf(
  set: StatefulSet,
  revisions: readonly ControllerRevision[],
): Revisions | { readonly step: RevisionStep } {
  const sorted = revisions.toSorted(byRevision);
  const { template } = set.spec;
  const last = sorted.at(-1);
  const update = findRevision(sorted, template);
  const next = (last?.revision ?? 0) + 1;
  if (!update) {
    const hash = templateHash(template, set.status?.collisionCount || undefined);
    return {
      step: { type: "create-revision", revision: newRevision(set, { template, number: next, hash, hashLabel }) },
    };
  }
  if (update !== last) return { step: { type: "renumber-revision", target: targetOf(update), revision: next } };
  const current = sorted.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
  return { current, update };
}

/** Which version a pod that is missing gets: ordinals below the partition keep the current one. */
export function versionOf(set: StatefulSet, { current, update }: Revisions, ordinal: number): Version {
  const { type = "RollingUpdate", rollingUpdate } = set.spec.updateStrategy ?? {};
  const kept = rollingUpdate
    ? (rollingUpdate.partition ?? 0)
    : type === "RollingUpdate"
      ? (set.status?.currentReplicas ?? 0)
      : 0;
  const revision = ordinal < firstOrdinal(set) + kept ? current : update;
  return { template: templateOf(revision) ?? set.spec.template, revision: revision.metadata.name };
}
