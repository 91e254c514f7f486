import type { KubeObject } from "@causeway/kubernetes";
import { fields, record, text, type Json } from "../../json/json.ts";
import type { Draft, Strategy, WriteContext } from "../../contract/resource.ts";
import { PODS, refusal } from "./refusal.ts";

const STORAGE = "scheduling.k8s.io/priorityclasses";
const CLASSES = { group: "scheduling.k8s.io", plural: "priorityclasses" };

/** Gives a pod the priority of its class, or of the class that is the default. Throws 403. */
export function admitPriority(pod: Draft, { cluster }: WriteContext): void {
  const spec = record(pod["spec"]);
  const name = text(spec["priorityClassName"]);
  const key = { cluster: cluster.name, resource: STORAGE, namespace: "", name };
  const found = name ? cluster.store.get(key)?.object : defaultClass(cluster);
  if (name && !found) throw refusal(PODS, pod, `no PriorityClass with name ${name} was found`);
  const { value = 0, preemptionPolicy } = found ? fields(found) : ({} as Json);
  if (found) spec["priorityClassName"] = found.metadata.name;
  const computed = "priority admission controller computed";
  const given = spec["priority"];
  if (given !== undefined && given !== null && given !== value) {
    const why = `the integer value of priority (${String(given as number)}) must not be provided in pod spec; ${computed} ${String(value as number)} from the given PriorityClass name`;
    throw refusal(PODS, pod, why);
  }
  spec["priority"] = value;
  const policy = text(preemptionPolicy) || "PreemptLowerPriority";
  const wanted = text(spec["preemptionPolicy"]);
  if (wanted && wanted !== policy) {
    const why = `the string value of PreemptionPolicy (${wanted}) must not be provided in pod spec; ${computed} ${policy} from the given PriorityClass name`;
    throw refusal(PODS, pod, why);
  }
  spec["preemptionPolicy"] = policy;
}

/** Of several defaults, which could only have been made by races, the least counts. */
function defaultClass(cluster: WriteContext["cluster"]): KubeObject | undefined {
  const { items } = cluster.store.list({ cluster: cluster.name, resource: STORAGE });
  const defaults = items.map(({ object }) => object).filter((o) => fields(o)["globalDefault"] === true);
  return defaults.sort((a, b) => Number(fields(a)["value"]) - Number(fields(b)["value"]))[0];
}

/** There is one default class. */
export const admitPriorityClass: NonNullable<Strategy["admit"]> = (object, old, { cluster }) => {
  if (fields(object)["globalDefault"] !== true) return;
  const other = defaultClass(cluster);
  if (!other || (old && other.metadata.name === object.metadata.name)) return;
  const why = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`;
  throw refusal(CLASSES, object, why);
};
