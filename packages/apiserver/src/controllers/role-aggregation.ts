import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { at, fields, record, records, same, type Json } from "../json/json.ts";
import type { Draft } from "../contract/resource.ts";
import { internalCall } from "../contract/call.ts";
import { matchesLabels } from "../contract/selectors.ts";
import { change } from "../registry/update.ts";
import { builtIn, type Controller } from "../contract/controller.ts";
import { startLoop } from "./loop.ts";
import { ignoreMissing } from "./namespaces.ts";

/** Keeps the rules of ClusterRoles with an aggregationRule equal to those of the roles they select. */
export function roleAggregation(cluster: Cluster): Controller {
  const roles = builtIn(cluster, "rbac.authorization.k8s.io", "clusterroles");
  const all = (): readonly KubeObject[] =>
    cluster.store.list({ cluster: cluster.name, resource: roles.storage }).items.map((i) => i.object);
  const loop = startLoop({
    name: "role-aggregation",
    cluster,
    async reconcile() {
      const stored = new Set(all());
      // A role may aggregate aggregates: each is written once, with what it has when nothing changes any more.
      for (const role of withAggregates([...stored])) {
        if (stored.has(role)) continue;
        const { rules } = fields(role);
        await change(internalCall(cluster, roles, { name: role.metadata.name }), ({ object }) => {
          const draft = structuredClone(object) as Draft;
          delete draft.metadata.resourceVersion;
          draft["rules"] = rules;
          return { draft, tracked: false };
        }).catch(ignoreMissing);
      }
    },
  });
  return {
    saw({ resource }) {
      if (resource === roles) loop.add("all");
    },
    resume: () => loop.add("all"),
    stop: () => loop.stop(),
  };
}

/**
 * So often roles are read for what others have by now: an aggregate of aggregates takes two times and one to see it.
 */
const PASSES = 4;

/** Objects with the rules that this controller would give them; the others are the same objects. */
export function withAggregates(objects: readonly KubeObject[]): readonly KubeObject[] {
  const isRole = (object: KubeObject): boolean => object.kind === "ClusterRole";
  // In the order of a list, which is that of the rules.
  const roles = objects.filter(isRole).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  // Roles may select one another, without an end: what is left is done after the writes, as another change is.
  for (let pass = 0, changed = true; changed && pass < PASSES; pass++) {
    changed = false;
    for (const [i, role] of roles.entries()) {
      if (!at(role, "aggregationRule")) continue;
      const rules = union(role, roles);
      if (same(rules, fields(role)["rules"] ?? [])) continue;
      roles[i] = Object.assign({ ...role }, { rules });
      changed = true;
    }
  }
  return [...objects.filter((o) => !isRole(o)), ...roles];
}

function union(role: KubeObject, all: readonly KubeObject[]): Json[] {
  const selectors = records(at(role, "aggregationRule", "clusterRoleSelectors"));
  const rules: Json[] = [];
  for (const other of all) {
    if (other.metadata.name === role.metadata.name) continue;
    if (!selectors.some((s) => matchesLabels(s, record(other.metadata.labels)))) continue;
    for (const rule of records(fields(other)["rules"])) if (!rules.some((r) => same(r, rule))) rules.push(rule);
  }
  return rules;
}
