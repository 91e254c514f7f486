import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../../contract/cluster.ts";
import { record } from "../../json/json.ts";
import type { Draft } from "../../contract/resource.ts";
import { OPEN } from "../../registry/admit.ts";
import { internalCall } from "../../contract/call.ts";
import { change } from "../../registry/update.ts";
import type { AdmissionPlugin, Attempt } from "../../contract/admission.ts";
import { charged, requested } from "./charge.ts";
import { isTerminating } from "./scopes.ts";

const STORAGE = "/resourcequotas";
/** What a write may make more of that is there already; a pod comes into other scopes as it gets a deadline. */
const GROWING = new Set(["/services", "/persistentvolumeclaims", "/pods"]);

/**
 * ResourceQuotas: a write that would use more than is allowed is refused, and what it uses is charged before it is
 * made, by compare-and-swap of the quota. Last in the chain, so that nothing that others refuse is charged.
 */
export function quotaPlugin(cluster: Cluster): AdmissionPlugin {
  let known: ReadonlySet<string> | undefined;
  cluster.changes.listen(({ resource, type }) => {
    if (resource.storage === STORAGE && type !== "MODIFIED") known = undefined;
  });
  const namespaces = (): ReadonlySet<string> => {
    const { items } = cluster.store.list({ cluster: cluster.name, resource: STORAGE });
    return new Set(items.map(({ object }) => object.metadata.namespace ?? ""));
  };
  return {
    concerns({ resource, namespace, subresource }, operation, phase) {
      if (phase !== "validate" || operation === "DELETE" || subresource !== "") return false;
      known ??= namespaces();
      if (known.size === 0 || !known.has(namespace)) return false;
      return operation === "CREATE" || GROWING.has(resource.storage);
    },
    async validate(attempt) {
      if (!staysInScopes(attempt)) await charge(cluster, attempt);
    },
  };
}

/** A pod is charged when it is made, and again only when it begins or ceases to have a deadline. */
function staysInScopes({ call, object, old }: Attempt): boolean {
  if (call.resource.storage !== "/pods" || !old || !object) return false;
  return isTerminating(object) === isTerminating(old);
}

async function charge(cluster: Cluster, attempt: Attempt): Promise<void> {
  const { namespace, dryRun } = attempt.call;
  const { items } = cluster.store.list({ cluster: cluster.name, resource: STORAGE, namespace });
  const quotas = items.map(({ object }) => object);
  const concerned = quotas.filter((quota) => {
    const delta = requested(quota, attempt);
    if (delta) charged(quota, delta, attempt);
    return delta !== undefined;
  });
  if (dryRun) return;
  for (const quota of concerned) await add(cluster, quota, attempt);
}

/** Others may have used some of it since: what there is left is checked again with every swap. */
async function add(cluster: Cluster, { metadata }: KubeObject, attempt: Attempt): Promise<void> {
  const resource = cluster.catalog.byKind("", "ResourceQuota");
  if (!resource) return;
  const { name, namespace = "" } = metadata;
  const call = internalCall(cluster, resource, { namespace, name, subresource: "status" });
  const make = ({ object }: { object: KubeObject }): { draft: Draft; tracked: boolean } => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    const delta = requested(object, attempt);
    if (delta) draft["status"] = { ...record(draft["status"]), used: charged(object, delta, attempt) };
    return { draft, tracked: false };
  };
  await change(call, make, OPEN);
}
