import { at, isRecord, record, records, same, text, type Json } from "../../json/json.ts";
import type { Draft, WriteContext } from "../../contract/resource.ts";
import { comparableAmounts } from "../../syntax/quantity.ts";
import { PODS, refusal } from "./refusal.ts";

/** Gives a pod what its runtime class costs and where it runs (RuntimeClass; KEP-688). Throws 403. */
export function admitRuntimeClass(pod: Draft, { cluster }: WriteContext): void {
  const spec = record(pod["spec"]);
  const name = text(spec["runtimeClassName"]);
  const key = { cluster: cluster.name, resource: "node.k8s.io/runtimeclasses", namespace: "", name };
  const found = cluster.store.get(key)?.object;
  if (name !== "" && !found) throw refusal(PODS, pod, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  const overhead = at(found, "overhead", "podFixed");
  if (isRecord(overhead)) takeOverhead(pod, spec, overhead);
  else if (isRecord(spec["overhead"])) {
    throw refusal(PODS, pod, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  }
  const scheduling = at(found, "scheduling");
  if (isRecord(scheduling)) takeScheduling(pod, spec, scheduling);
}

function takeOverhead(pod: Draft, spec: Json, overhead: Json): void {
  const given = spec["overhead"];
  if (isRecord(given) && !same(comparableAmounts(given), comparableAmounts(overhead))) {
    throw refusal(PODS, pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  spec["overhead"] = { ...overhead };
}

function takeScheduling(pod: Draft, spec: Json, { nodeSelector, tolerations }: Json): void {
  const own = record(spec["nodeSelector"]);
  for (const [label, value] of Object.entries(record(nodeSelector))) {
    if (own[label] === undefined || own[label] === value) continue;
    const [theirs, ours] = [text(value), text(own[label])];
    const where = `runtimeClass.scheduling.nodeSelector[${label}] = ${theirs}; pod.spec.nodeSelector[${label}] = ${ours}`;
    throw refusal(PODS, pod, `conflict: ${where}`);
  }
  if (isRecord(nodeSelector)) spec["nodeSelector"] = { ...own, ...nodeSelector };
  const all = distinct([...records(spec["tolerations"]), ...records(tolerations)]);
  if (all.length > MOST_TOLERATIONS) {
    const limit = `pod rejected: ${all.length} different tolerations, at most ${MOST_TOLERATIONS} with a RuntimeClass`;
    throw refusal(PODS, pod, limit);
  }
  if (all.length > 0) spec["tolerations"] = uncovered(all);
}

/** Each is compared with all others. kube-apiserver has no limit of its own. */
const MOST_TOLERATIONS = 1_000;

const TOLERATION = ["key", "operator", "value", "effect", "tolerationSeconds"];

/** Of equal ones one, where the first is. */
function distinct(tolerations: readonly Json[]): Json[] {
  const contentOf = (toleration: Json): string => JSON.stringify(TOLERATION.map((field) => toleration[field]));
  return [...new Map(tolerations.map((toleration) => [contentOf(toleration), toleration])).values()];
}

/** Without those that another one covers. */
function uncovered(tolerations: readonly Json[]): Json[] {
  const kept: Json[] = [];
  for (const [i, toleration] of tolerations.entries()) {
    const isCovered = (other: Json, at: number): boolean => at > i && covers(other, toleration);
    if (!kept.some((other) => covers(other, toleration)) && !tolerations.some(isCovered)) kept.push(toleration);
  }
  return kept;
}

/** Whether what `one` tolerates has in it all that `other` does. */
function covers(one: Json, other: Json): boolean {
  const operator = text(one["operator"]);
  const isAnyKey = text(one["key"]) === "" && operator === "Exists";
  if (one["key"] !== other["key"] && !isAnyKey) return false;
  if (text(one["effect"]) !== "" && one["effect"] !== other["effect"]) return false;
  const [longest, asked] = [one["tolerationSeconds"], other["tolerationSeconds"]];
  if (one["effect"] === "NoExecute" && typeof longest === "number") {
    if (typeof asked !== "number" || asked > longest) return false;
  }
  return operator === "Exists" || (operator === text(other["operator"]) && one["value"] === other["value"]);
}
