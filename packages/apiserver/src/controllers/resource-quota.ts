import type { KubeObject } from "@causeway/kubernetes";
import { inScopes } from "../admission/quota/scopes.ts";
import { namesFor, usageOf } from "../admission/quota/usage.ts";
import type { Cluster } from "../contract/cluster.ts";
import { at, fields, record, same, type Json } from "../json/json.ts";
import type { Draft } from "../contract/resource.ts";
import { OPEN } from "../registry/admit.ts";
import { internalCall } from "../contract/call.ts";
import { change } from "../registry/update.ts";
import { addQuantity } from "../syntax/quantity.ts";
import { builtIn, type Controller } from "../contract/controller.ts";
import { deadlines } from "./deadlines.ts";
import { startLoop } from "./loop.ts";
import { ignoreMissing } from "./namespaces.ts";

/** How long after a charge it is counted again: what was charged may not have been made. */
const RECOUNT = 30_000;

/** Keeps status.hard and status.used of ResourceQuotas: counts again when something goes, or a quota changes. */
export function resourceQuotas(cluster: Cluster): Controller {
  const quotas = builtIn(cluster, "", "resourcequotas");
  const known = new Map<string, Set<string>>();
  const loop = startLoop({
    name: "resource-quota",
    cluster,
    async reconcile(key) {
      const [namespace = "", name = ""] = key.split("/");
      const call = internalCall(cluster, quotas, { namespace, name, subresource: "status" });
      if (!cluster.store.get({ cluster: cluster.name, resource: quotas.storage, namespace, name })) return;
      const make = ({ object }: { object: KubeObject }): { draft: Draft; tracked: boolean } => {
        const draft = structuredClone(object) as Draft;
        delete draft.metadata.resourceVersion;
        const status = counted(cluster, object);
        const before = record(draft["status"]);
        if (!same(status, { hard: record(before["hard"]), used: record(before["used"]) })) draft["status"] = status;
        return { draft, tracked: false };
      };
      await change(call, make, OPEN).catch(ignoreMissing);
    },
  });
  const timer = deadlines(cluster.clock, (key) => loop.add(key));
  const note = (quota: KubeObject, gone: boolean): void => {
    const { namespace = "", name } = quota.metadata;
    const names = known.get(namespace) ?? new Set();
    if (gone) names.delete(name);
    else names.add(name);
    if (names.size > 0) known.set(namespace, names);
    else known.delete(namespace);
  };
  const recount = (namespace: string): void => {
    for (const name of known.get(namespace) ?? []) loop.add(`${namespace}/${name}`);
  };
  return {
    saw({ resource, object, type, previous }) {
      const { namespace = "", name } = object.metadata;
      if (resource.storage === quotas.storage) {
        const key = `${namespace}/${name}`;
        note(object, type === "DELETED");
        if (type === "DELETED") return timer.set(key, undefined);
        const recharged = previous && same(at(previous, "spec"), at(object, "spec"));
        if (recharged) timer.set(key, cluster.clock.now() + RECOUNT);
        else loop.add(key);
        return;
      }
      if (known.size === 0 || !known.has(namespace)) return;
      if (type === "DELETED" || (type === "MODIFIED" && hasEnded(object, previous))) recount(namespace);
    },
    resume() {
      for (const { object } of cluster.store.list({ cluster: cluster.name, resource: quotas.storage }).items) {
        note(object, false);
        loop.add(`${object.metadata.namespace ?? ""}/${object.metadata.name}`);
      }
    },
    stop() {
      timer.stop();
      return loop.stop();
    },
  };
}

/** A pod that ends gives back what it used. */
function hasEnded(object: KubeObject, previous: KubeObject | undefined): boolean {
  if (object.kind !== "Pod") return false;
  const phase = at(object, "status", "phase");
  return (phase === "Succeeded" || phase === "Failed") && phase !== at(previous, "status", "phase");
}

function counted(cluster: Cluster, quota: KubeObject): Json {
  const hard = record(at(fields(quota), "spec", "hard"));
  const names = Object.keys(hard);
  const used: Record<string, string> = Object.fromEntries(names.map((name) => [name, "0"]));
  const namespace = quota.metadata.namespace ?? "";
  for (const resource of cluster.catalog.all()) {
    if (!resource.namespaced || resource.verbs.length === 0) continue;
    const own = namesFor(resource, names);
    if (own.length === 0) continue;
    const { items } = cluster.store.list({ cluster: cluster.name, resource: resource.storage, namespace });
    for (const { object } of items) {
      if (!inScopes(quota, resource, object)) continue;
      const usage = usageOf(resource, object);
      for (const name of own) used[name] = addQuantity(used[name] ?? "0", usage[name] ?? "0");
    }
  }
  return { hard, used };
}
