import { hasCode } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { at, copied, fields, record, records, text, texts, timestamp, type Json } from "../json/json.ts";
import { builtIn } from "../contract/controller.ts";
import type { Draft } from "../contract/resource.ts";
import { admitted, OPEN } from "../registry/admit.ts";
import { current, internalCall, type Call } from "../contract/call.ts";
import { checkPreconditions, deleteOptions, remove, type DeleteOptions } from "../registry/delete.ts";
import { matchesLabels } from "../contract/selectors.ts";
import { change } from "../registry/update.ts";
import { apiError, badRequest, forbidden } from "../errors/status.ts";

/*
 * Evictions: deletions that ask the PodDisruptionBudget of a pod first. Source: Kubernetes, "API-initiated eviction"
 * and "Specifying a Disruption Budget for your Application"; the words are kube-apiserver's.
 */

/** How often a change that others were faster with is tried again. */
const ATTEMPTS = 20;
/** Evictions of one budget that no controller has confirmed yet. */
const UNCONFIRMED = 2000;
const DISRUPTIONS = { group: "policy", plural: "poddisruptionbudget" };

/** Answers with the Status that kube-apiserver answers an Eviction with. Throws 429 where a budget has nothing left. */
export async function evict(asked: Call, body: unknown): Promise<{ code: number; body: Json }> {
  if (record(body)["kind"] !== "Eviction") throw badRequest("the body must be a policy/v1 Eviction");
  if (text(at(body, "metadata", "name")) !== asked.name) {
    throw badRequest("name in URL does not match name in Eviction object");
  }
  const eviction = fields(await admitted(asked, body as KubeObject));
  const dryRun = asked.dryRun || texts(at(eviction, "deleteOptions", "dryRun")).includes("All");
  const call = { ...asked, subresource: "", dryRun };
  const options = deleteOptions(eviction["deleteOptions"], new URLSearchParams());
  const pod = await deletedUnguarded(call, options);
  if (!pod) return answered({ status: "Success" }, 201);
  const budgets = budgetsOf(call, pod);
  if (budgets.length > 1) {
    const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    return answered({ status: "Failure", message }, 500);
  }
  const [budget] = budgets;
  if (!budget) await deleteEvicted(call, options);
  else if (isOutside(budget, pod)) await deleteUnready(call, options, { pod, budget });
  else {
    await charge(call, budget.metadata.name);
    await deleteEvicted(call, options);
  }
  return answered({ status: "Success" }, 201);
}

function answered(status: Json, code: number): { code: number; body: Json } {
  return { code, body: { kind: "Status", apiVersion: "v1", metadata: {}, ...status, code } };
}

/** Deletes a pod that no budget guards, since it does not run; answers with the pod where one might. */
async function deletedUnguarded(call: Call, options: DeleteOptions): Promise<KubeObject | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const { object: pod } = current(call);
    const phase = at(pod, "status", "phase");
    const isOver = phase === "Succeeded" || phase === "Failed" || pod.metadata.deletionTimestamp !== undefined;
    if (!isOver && phase !== "Pending") return pod;
    try {
      // What may begin to run meanwhile is checked again.
      await deleteEvicted(call, isOver ? options : pinned(options, pod));
      return undefined;
    } catch (error) {
      const isFinal = options.resourceVersion !== undefined || attempt === ATTEMPTS;
      if (isFinal || !hasCode(error, "KUBERNETES_CONFLICT")) throw error;
    }
  }
}

function pinned(options: DeleteOptions, { metadata }: KubeObject): DeleteOptions {
  return { resourceVersion: metadata.resourceVersion ?? "", ...options };
}

function budgetsOf(call: Call, { metadata }: KubeObject): KubeObject[] {
  const { cluster, namespace } = call;
  const resource = builtIn(cluster, "policy", "poddisruptionbudgets").storage;
  const { items } = cluster.store.list({ cluster: cluster.name, resource, namespace });
  return items
    .map(({ object }) => object)
    .filter((budget) => {
      const selector = at(budget, "spec", "selector");
      return selector !== undefined && matchesLabels(selector, metadata.labels ?? {});
    });
}

/** A pod that is not ready is not counted by its budget, and may go where the budget's policy says so. */
function isOutside(budget: KubeObject, pod: KubeObject): boolean {
  const isReady = records(at(pod, "status", "conditions")).some((c) => c["type"] === "Ready" && c["status"] === "True");
  if (isReady) return false;
  if (at(budget, "spec", "unhealthyPodEvictionPolicy") === "AlwaysAllow") return true;
  const { currentHealthy, desiredHealthy } = countsOf(budget);
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

async function deleteUnready(
  call: Call,
  options: DeleteOptions,
  { pod, budget }: { pod: KubeObject; budget: KubeObject },
): Promise<void> {
  try {
    await deleteEvicted(call, { ...options, resourceVersion: pod.metadata.resourceVersion ?? "" });
  } catch (error) {
    // It may have become ready: the client is to ask again.
    const isOurs = options.resourceVersion === undefined && hasCode(error, "KUBERNETES_CONFLICT");
    throw isOurs ? stillProcessed(budget.metadata.name) : error;
  }
}

/** Sets the pod's DisruptionTarget condition, and deletes it. */
async function deleteEvicted(call: Call, options: DeleteOptions): Promise<void> {
  if (call.dryRun) return void (await remove(call, options, OPEN));
  const now = timestamp(call.cluster.clock.now());
  const updated = await change(
    { ...call, subresource: "status" },
    (old) => {
      checkPreconditions(call, options, old);
      return { draft: withCondition(old.object, evicted, now), tracked: true };
    },
    OPEN,
  );
  const { resourceVersion = "" } = updated.metadata;
  const after = options.resourceVersion === undefined ? options : { ...options, resourceVersion };
  await remove(call, after, OPEN);
}

const evicted: Json = {
  lastProbeTime: null,
  type: "DisruptionTarget",
  status: "True",
  reason: "EvictionByEvictionAPI",
  message: "Eviction API: evicting",
};

/** A copy that is for no revision. */
function copyOf(object: KubeObject): Draft {
  const draft = copied(object) as Draft;
  delete draft.metadata.resourceVersion;
  return draft;
}

/** A copy with the condition in place of one of its type; the time of a transition remains where there is none. */
function withCondition(object: KubeObject, condition: Json, now: string): Draft {
  const draft = copyOf(object);
  const status = record(draft["status"]);
  const conditions = records(status["conditions"]);
  const before = conditions.find((c) => c["type"] === condition["type"]);
  const since = before?.["status"] === condition["status"] ? before?.["lastTransitionTime"] : now;
  const made = { ...before, ...condition, lastTransitionTime: since };
  const others = conditions.map((c) => (c === before ? made : c));
  draft["status"] = { ...status, conditions: before ? others : [...others, made] };
  return draft;
}

/** Takes one of the disruptions that the budget allows. Throws 429 or 403 where it allows none. */
async function charge(call: Call, name: string): Promise<void> {
  const { cluster, namespace } = call;
  const budgets = builtIn(cluster, "policy", "poddisruptionbudgets");
  const target = internalCall(cluster, budgets, { namespace, name, subresource: "status" });
  const now = timestamp(cluster.clock.now());
  const make = (old: { object: KubeObject }): { draft: Draft; tracked: boolean } => {
    refuseUnallowed(old.object);
    return { draft: charged(old.object, { pod: call.name, now }), tracked: false };
  };
  if (call.dryRun) make(current(target));
  else await change(target, make, OPEN);
}

function charged(budget: KubeObject, { pod, now }: { pod: string; now: string }): Draft {
  const left = countsOf(budget).disruptionsAllowed - 1;
  const { generation: observedGeneration } = budget.metadata;
  const none = { type: "DisruptionAllowed", status: "False", reason: "InsufficientPods", message: "" };
  const draft = left > 0 ? copyOf(budget) : withCondition(budget, { ...none, observedGeneration }, now);
  const status = record(draft["status"]);
  const disruptedPods = { ...record(status["disruptedPods"]), [pod]: now };
  draft["status"] = { ...status, disruptionsAllowed: left, disruptedPods };
  return draft;
}

function refuseUnallowed(budget: KubeObject): void {
  const { name, generation = 0 } = budget.metadata;
  const { observedGeneration, disruptionsAllowed, desiredHealthy, currentHealthy } = countsOf(budget);
  if (observedGeneration < generation) throw stillProcessed(name);
  if (disruptionsAllowed < 0) throw forbidden(DISRUPTIONS, name, "pdb disruptions allowed is negative");
  if (Object.keys(record(at(budget, "status", "disruptedPods"))).length > UNCONFIRMED) {
    const why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
    throw forbidden(DISRUPTIONS, name, why);
  }
  if (disruptionsAllowed > 0) return;
  const why = `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  throw tooMany(why);
}

function stillProcessed(name: string): Error {
  return tooMany(`The disruption budget ${name} is still being processed by the server.`, 10);
}

function tooMany(why: string, retryAfterSeconds = 0): Error {
  return apiError(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
    ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
    causes: [{ reason: "DisruptionBudget", message: why }],
  });
}

const COUNTS = ["observedGeneration", "disruptionsAllowed", "desiredHealthy", "currentHealthy"] as const;

function countsOf(budget: KubeObject): Record<(typeof COUNTS)[number], number> {
  const counts = COUNTS.map((name) => [name, Number(at(budget, "status", name) ?? 0)]);
  return Object.fromEntries(counts) as Record<(typeof COUNTS)[number], number>;
}
