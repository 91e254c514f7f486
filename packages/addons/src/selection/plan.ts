import type { AddonSet, AddonSetStatus } from "@causeway/api";
import { canonicalJson, shortList } from "@causeway/foundation";
import {
  getCondition,
  ownerReference,
  setConditions,
  type Condition,
  type Plan,
  type WantedCondition,
} from "@causeway/kubernetes";
import type { Observed } from "./gather.ts";
import { nameFor } from "./names.ts";
import type { Step } from "./steps.ts";

/** Keeps a selecting AddonSet until those that were made for it are gone. */
export const finalizer = "addons.causeway.dev/selection";
/** Of the clusters that are named. */
const NAMED = 64;

/**
 * The rules of an AddonSet for many clusters: each selected cluster has an AddonSet with the same add-ons. The one of a
 * cluster that is selected no longer is deleted; its own deletionPolicy says what becomes of the objects.
 */
export function plan(observed: Observed, now: number): Plan<Step, AddonSetStatus> {
  const { set } = observed;
  if (set.metadata.deletionTimestamp !== undefined) return planDeletion(observed, now);
  const wanted = observed.clusters.map((cluster) => setFor(observed, cluster));
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const steps: Step[] = [
    ...(set.metadata.finalizers?.includes(finalizer) === true ? [] : [{ type: "add-finalizer" } as const]),
    ...observed.made.filter((each) => !names.has(each.metadata.name)).flatMap(deletion),
    ...wanted.filter((each) => !observed.taken.has(each.metadata.name) && differs(observed, each)).map(application),
  ];
  return { steps, status: statusOf(observed, now) };
}

function planDeletion(observed: Observed, now: number): Plan<Step, AddonSetStatus> {
  const { set, made } = observed;
  const status = statusOf(observed, now);
  if (set.metadata.finalizers?.includes(finalizer) !== true) return { steps: [], status };
  if (made.length === 0) return { steps: [{ type: "remove-finalizer" }], status };
  return { steps: made.flatMap(deletion), status, wait: { for: "the AddonSets of its clusters to be deleted" } };
}

const application = (set: AddonSet): Step => ({ type: "apply", set });

function deletion(set: AddonSet): Step[] {
  return set.metadata.deletionTimestamp === undefined ? [{ type: "delete", set }] : [];
}

/** What the AddonSet of a cluster is to be. */
function setFor({ set }: Observed, clusterName: string): AddonSet {
  const { clusterSelector: _selector, ...spec } = set.spec;
  return {
    apiVersion: set.apiVersion,
    kind: set.kind,
    metadata: {
      namespace: set.metadata.namespace ?? "",
      name: nameFor(set.metadata.name, clusterName),
      ownerReferences: [ownerReference(set, { controller: true })],
    },
    spec: { ...spec, clusterName },
  } as AddonSet;
}

/** One that is being deleted is made again when it is gone. */
function differs({ made }: Observed, wanted: AddonSet): boolean {
  const live = made.find(({ metadata }) => metadata.name === wanted.metadata.name);
  if (live?.metadata.deletionTimestamp !== undefined) return false;
  return live === undefined || canonicalJson(live.spec) !== canonicalJson(wanted.spec);
}

function statusOf(observed: Observed, now: number): AddonSetStatus {
  const { set, clusters, taken } = observed;
  const { generation } = set.metadata;
  const without = (type: string): string[] => clusters.filter((cluster) => !is(observed, cluster, type));
  const [unapplied, ill] = [without("Applied"), without("Healthy")];
  const conditions: WantedCondition[] = [
    taken.size > 0 ? conflict(taken) : verdict("Applied", unapplied, clusters),
    verdict("Healthy", ill, clusters),
  ];
  const failing = [...new Set([...unapplied, ...ill])].toSorted();
  return {
    conditions: setConditions(set.status?.conditions, conditions, { generation, now }),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    clusters: {
      selected: clusters.length,
      applied: clusters.length - unapplied.length,
      healthy: clusters.length - ill.length,
    },
    ...(failing.length === 0 ? {} : { failing: failing.slice(0, NAMED) }),
  };
}

/** Does the AddonSet of a cluster say so of what is declared now? */
function is({ made, set }: Observed, cluster: string, type: string): boolean {
  const own = made.find(({ metadata }) => metadata.name === nameFor(set.metadata.name, cluster));
  const found = getCondition((own?.status?.conditions ?? []) as Condition[], type);
  return found?.status === "True" && found.observedGeneration === own?.metadata.generation;
}

function verdict(type: "Applied" | "Healthy", open: readonly string[], all: readonly string[]): WantedCondition {
  if (open.length === 0) return { type, status: "True", reason: type, message: `in ${all.length} clusters` };
  const message = `not in ${open.length} of ${all.length} clusters: ${shortList(open, 5)}`;
  return { type, status: "False", reason: "ClustersRemain", message };
}

function conflict(taken: ReadonlySet<string>): WantedCondition {
  const message = `AddonSets of these names exist and were not made for this one: ${[...taken].join(", ")}; delete or rename them (ADDON_SET_NAME_TAKEN)`;
  return { type: "Applied", status: "False", reason: "NameTaken", message };
}
