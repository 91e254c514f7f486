import type { AnyTreeStep } from "./plan-tree.ts";

/** The call of a step, as the reference of the load-balancing API names it. */
export interface TreeCall {
  readonly method: "POST" | "PUT" | "DELETE";
  /** "/pools/{id}/members". */
  readonly route: string;
}

const routes: Readonly<Record<string, string>> = {
  "load-balancer": "/loadbalancers",
  listener: "/listeners",
  pool: "/pools",
  member: "/pools/{id}/members",
  members: "/pools/{id}/members",
  monitor: "/healthmonitors",
  policy: "/l7policies",
  rule: "/l7policies/{id}/rules",
};
const verbs = { create: "POST", update: "PUT", replace: "PUT", delete: "DELETE" } as const;

/**
 * The one call of a change where none is refused and no response is lost: "VERB-PART" is a call on the part's route, a
 * replacement one of the whole collection.
 */
export function treeCall(type: AnyTreeStep["type"] | "delete-load-balancer"): TreeCall {
  const at = type.indexOf("-");
  const verb = type.slice(0, at) as keyof typeof verbs;
  const route = routes[type.slice(at + 1)] ?? "";
  return { method: verbs[verb], route: verb === "create" || verb === "replace" ? route : `${route}/{id}` };
}
