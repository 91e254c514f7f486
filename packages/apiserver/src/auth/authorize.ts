import { apiError } from "../errors/status.ts";
import type { Cluster } from "../contract/cluster.ts";
import type { Attributes, Authorize, Decision } from "../contract/attributes.ts";
import { nodeDecision } from "./node.ts";
import type { Rbac } from "./rbac.ts";

/** Node rules, then RBAC; system:masters may do anything. */
export function authorizer(cluster: Cluster, rbac: Rbac): Authorize {
  return (attributes): Decision => {
    if (attributes.user.groups.includes("system:masters")) return { allowed: true, reason: "" };
    const node = nodeDecision(cluster, attributes);
    if (node.allowed) return node;
    const byRules = rbac.decide(attributes);
    if (byRules.allowed) return byRules;
    return { allowed: false, reason: [node.reason, byRules.reason].filter(Boolean).join("\n") };
  };
}

/** The 403 that kube-apiserver gives. */
export function refusal(asked: Attributes, reason: string): Error {
  const { user, verb, plural, subresource, group, namespace, name, path } = asked;
  const suffix = reason ? `: ${reason}` : "";
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`;
  if (path !== undefined) {
    return apiError(403, "Forbidden", `forbidden: ${who} path ${JSON.stringify(path)}${suffix}`, {});
  }
  const whole = subresource ? `${plural}/${subresource}` : plural;
  const scope = namespace ? ` in the namespace ${JSON.stringify(namespace)}` : " at the cluster scope";
  const what = `resource ${JSON.stringify(whole)} in API group ${JSON.stringify(group)}${scope}`;
  const qualified = group ? `${plural}.${group}` : plural;
  const subject = name ? `${qualified} ${JSON.stringify(name)}` : qualified;
  const details = { ...(name ? { name } : {}), ...(group ? { group } : {}), kind: plural };
  return apiError(403, "Forbidden", `${subject} is forbidden: ${who} ${what}${suffix}`, details);
}
