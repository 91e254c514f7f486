import { record, records, type Json } from "../../json/json.ts";
import { addQuantity, nanosOf } from "../../syntax/quantity.ts";
import type { Resources } from "./pod-resources.ts";

const COUNTED = ["cpu", "memory"] as const;

/**
 * The QoS class of a pod. What the pod says as a whole counts instead of its containers; amounts of zero do not count.
 */
export function podQosClass(spec: Json): "BestEffort" | "Burstable" | "Guaranteed" {
  const containers = [...records(spec["containers"]), ...records(spec["initContainers"])].map((c) => c["resources"]);
  const given = (isSet(spec["resources"]) ? [spec["resources"]] : containers).map((r) => record(r));
  const limits = given.map((r) => positive(record(r["limits"])));
  const requests = given.map((r) => positive({ ...record(r["limits"]), ...record(r["requests"]) }));
  const [asked, most] = [total(requests), total(limits)];
  if (Object.keys(asked).length === 0) return "BestEffort";
  const isLimited = limits.every((l) => COUNTED.every((name) => l[name] !== undefined));
  return isLimited && COUNTED.every((name) => nanosOf(asked[name]) === nanosOf(most[name]))
    ? "Guaranteed"
    : "Burstable";
}

/** Whether a pod says as a whole what it needs. */
function isSet(resources: unknown): boolean {
  const { requests, limits } = record(resources);
  return Object.keys({ ...record(requests), ...record(limits) }).some((name) =>
    /^(cpu|memory|hugepages-.*)$/.test(name),
  );
}

function positive(resources: Json): Resources {
  const counted = COUNTED.map((name) => [name, resources[name]] as const);
  return Object.fromEntries(counted.filter(([, amount]) => (nanosOf(amount) ?? 0n) > 0n)) as Resources;
}

function total(all: readonly Resources[]): Resources {
  const sums: Record<string, string> = {};
  for (const one of all) for (const [name, amount] of Object.entries(one)) sums[name] = addQuantity(sums[name], amount);
  return sums;
}
