import type { KubeObject } from "@causeway/kubernetes";
import { at, record } from "../../json/json.ts";
import { addQuantity, nanosOf } from "../../syntax/quantity.ts";
import type { Resources } from "../builtin/pod-resources.ts";
import { refusal } from "../builtin/refusal.ts";
import type { Attempt } from "../../contract/admission.ts";
import { inScopes } from "./scopes.ts";
import { namesFor, unspecified, usageOf } from "./usage.ts";

/** What a ResourceQuota limits, and how much of it is used, as its status has both. */
export function statusOf(quota: KubeObject): { readonly hard: Resources; readonly used: Resources } {
  const part = (name: string): Resources => record(at(quota, "status", name)) as Resources;
  return { hard: part("hard"), used: part("used") };
}

/** What an attempt would add to what a quota counts; undefined when the quota is not about it. Throws 403. */
export function requested(quota: KubeObject, { call, object, old }: Attempt): Resources | undefined {
  const { resource } = call;
  if (!object || !inScopes(quota, resource, object)) return undefined;
  const { hard, used } = statusOf(quota);
  const names = namesFor(resource, Object.keys(hard));
  if (names.length === 0) return undefined;
  const { name } = quota.metadata;
  const missing = resource.storage === "/pods" ? unspecified(object, names) : "";
  if (missing) throw refusal(resource, object, `failed quota: ${name}: must specify ${missing}`);
  const unknown = names.filter((n) => used[n] === undefined);
  if (unknown.length > 0) {
    throw refusal(resource, object, `status unknown for quota: ${name}, resources: ${unknown.sort().join(",")}`);
  }
  const now = usageOf(resource, object);
  const before = old && inScopes(quota, resource, old) ? usageOf(resource, old) : {};
  const delta: Record<string, string> = {};
  for (const [n, quantity] of Object.entries(now)) {
    if (hard[n] === undefined) continue;
    const more = addQuantity(quantity, before[n], -1);
    if ((nanosOf(more) ?? 0n) > 0n) delta[n] = more;
  }
  return Object.keys(delta).length > 0 ? delta : undefined;
}

/** The usage that a quota would have; throws 403 where that is more than it allows. */
export function charged(quota: KubeObject, delta: Resources, attempt: Attempt): Resources {
  const { hard, used } = statusOf(quota);
  const next = { ...used };
  for (const [name, more] of Object.entries(delta)) next[name] = addQuantity(used[name] ?? "0", more);
  const exceeded = Object.keys(delta)
    .filter((name) => (nanosOf(next[name]) ?? 0n) > (nanosOf(hard[name]) ?? 0n))
    .sort();
  if (exceeded.length === 0 || !attempt.object) return next;
  const shown = (resources: Resources): string => exceeded.map((n) => `${n}=${resources[n] ?? "0"}`).join(",");
  const sums = `requested: ${shown(delta)}, used: ${shown(used)}, limited: ${shown(hard)}`;
  throw refusal(attempt.call.resource, attempt.object, `exceeded quota: ${quota.metadata.name}, ${sums}`);
}
