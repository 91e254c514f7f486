import type { AddonSet } from "@causeway/api";
import { getCondition, type Condition } from "@causeway/kubernetes";
import type { Finding } from "./findings.ts";
import type { Observed } from "./gather.ts";
import type { Decided } from "./plan-desired.ts";
import { addonSetNameOf } from "./addons.ts";
import { appliedAnnotation } from "./names.ts";
import { publicText } from "./public-text.ts";

type AddonStatus = NonNullable<NonNullable<AddonSet["status"]>["addons"]>[number];

/** Why the add-ons of a cluster are not ready. */
export interface AddonProblem {
  readonly message: string;
  /** Undefined: it only takes its time. */
  readonly code?: string;
}

/** Begins the codes of add-ons that do not work. */
const CODES = "ADDON_";
/** An add-on that another AddonSet of the cluster has is that one's affair. */
const OF_ANOTHER = "ADDON_OBJECT_OF_ANOTHER_SET";

/** What a change of a cluster waits for; undefined: its add-ons are as they are to be, or failed before it began. */
export function addonsWaitFor(observed: Decided): AddonProblem | undefined {
  return observed.object.status?.addonsFailed === true ? undefined : addonProblem(observed);
}

/** Whether the next change of a cluster is not to wait for its add-ons; while one is in progress that remains. */
export function addonsFailed(observed: Decided, isChanging: boolean): boolean {
  const { status, metadata } = observed.object;
  if (status?.created !== true || addonProblem(observed) === undefined) return false;
  if (!isChanging || status.addonsFailed === true) return true;
  // A change after one that the add-ons made fail.
  const isNext = status.observedGeneration !== metadata.generation;
  return isNext && status.status === "UPDATE_FAILED" && status.code?.startsWith(CODES) === true;
}

/** Why the add-ons of a cluster are not as they are to be; undefined: they are. */
function addonProblem(observed: Decided): AddonProblem | undefined {
  const { object, addonSet } = observed;
  const name = addonSetNameOf(object.metadata.name);
  const wanted = observed.desired.find((one) => one.object.kind === "AddonSet" && one.object.metadata.name === name);
  if (wanted === undefined) return undefined;
  const applied = (one: { readonly metadata: AddonSet["metadata"] } | undefined) =>
    one?.metadata.annotations?.[appliedAnnotation];
  if (addonSet === undefined || applied(addonSet) !== applied(wanted.object))
    return { message: "waiting for the add-ons to be declared" };
  const { status, metadata } = addonSet;
  if (status?.observedGeneration !== metadata.generation) return { message: "waiting for the add-ons" };
  if (status?.version !== object.spec.version)
    return { message: `waiting for the add-ons of Kubernetes ${object.spec.version}` };
  return firstProblem(observed, addonSet);
}

function firstProblem(observed: Decided, { metadata, spec, status }: AddonSet): AddonProblem | undefined {
  const isJudged = hasNodes(observed);
  const found = spec.addons.map(({ name }) => status?.addons?.find((each) => each.name === name));
  const first = found.find((addon) => addon !== undefined && isBad(addon, isJudged));
  if (first !== undefined) return problemOf(first, metadata.namespace ?? "");
  const isComplete = found.every((addon) => addon !== undefined);
  const conditions = (status?.conditions ?? []) as readonly Condition[];
  const applied = getCondition(conditions, "Applied");
  if (isComplete && applied !== undefined && isKnown(getCondition(conditions, "Healthy"))) return undefined;
  return { message: `waiting for the add-ons${applied?.status === "False" ? publicWaiting(applied) : ""}` };
}

/** While the set as a whole waits or is refused, its health is unknown: what its add-ons had before says nothing. */
const isKnown = (healthy: Condition | undefined): boolean => healthy !== undefined && healthy.status !== "Unknown";

/** Pods have no place to run where there are no nodes. */
const hasNodes = ({ deployments, machines }: Observed): boolean =>
  machines.length > 0 || deployments.some(({ spec }) => (spec.replicas ?? 1) > 0);

function isBad({ state, code }: AddonStatus, isJudged: boolean): boolean {
  if (state === "Applied" || code === OF_ANOTHER) return false;
  return state !== "Unhealthy" || isJudged;
}

function problemOf(addon: AddonStatus, namespace: string): AddonProblem {
  const { name, state, code: named = "" } = addon;
  const isCoded = named.startsWith(CODES);
  const said = publicReason(addon, namespace);
  const text = `add-on ${name}: ${isCoded ? said.replace(` (${named})`, "") : said}`.slice(0, 1_000);
  if (state === "Failed") return { message: text, code: isCoded ? named : `${CODES}FAILED` };
  return state === "Unhealthy" ? { message: text, code: isCoded ? named : `${CODES}UNHEALTHY` } : { message: text };
}

/** Codes of what is wrong with an object in the cluster; other refusals name what is in the management cluster. */
const ofCluster: ReadonlySet<string> = new Set([
  "KUBERNETES_INVALID",
  "ADDON_OBJECT_IMMUTABLE",
  "ADDON_OBJECT_TWICE",
  "ADDON_CONTESTED",
  "ADDON_MANIFEST_REFUSED",
]);

/** What users of a cluster read of an add-on. Addresses and objects of the management cluster are the operator's. */
function publicReason({ state, message = "", code = "" }: AddonStatus, namespace: string): string {
  // What follows is the other add-on's reason, which may have them.
  if (state === "Waiting") return publicText(message.split(": ")[0] ?? "", namespace);
  if (code.startsWith("KUBERNETES_") && code !== "KUBERNETES_INVALID")
    return `the cluster's API refused an object; the operator's log has the reason: ${code}`;
  // It is of the users' own pods, images and registries.
  if (state === "Unhealthy") return message.replaceAll(/\s+/g, " ");
  if (state !== "Failed" || ofCluster.has(code)) return publicText(message, namespace);
  const shown = code === "" || code.startsWith(CODES) ? "" : `: ${code}`;
  return `it cannot be installed; the operator's log has the reason${shown}`;
}

/** What a set as a whole waits for. Its conditions repeat the reasons of its add-ons, and name its own objects. */
function publicWaiting({ reason }: Condition): string {
  if (reason === "WaitingForConnection") return ": the control plane is not connected yet";
  return reason.startsWith(CODES) ? `; the operator's log has the reason: ${reason}` : "";
}

/** What does not work of the add-ons, as a cause; undefined: nothing, or it only takes its time. */
export function addonFinding(observed: Decided): Finding | undefined {
  const { code, message = "" } = addonProblem(observed) ?? {};
  // Each may pass by itself: an image is pulled later, a node comes back.
  return code === undefined ? undefined : { code, message, isTerminal: false };
}
