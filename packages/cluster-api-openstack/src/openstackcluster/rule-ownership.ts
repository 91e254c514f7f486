import { createHash } from "node:crypto";
import type { OpenStackCluster } from "@causeway/api";
import type { SecurityGroupRule, SecurityGroupRuleCreate } from "@causeway/openstack";
import { rulesAnnotation } from "../resources/naming.ts";
import { ruleKey } from "./rules.ts";

/** The ports of the rules that are made without the spec's lists, by their descriptions; upstream has the same. */
const builtIn: Readonly<Record<string, readonly [number | null, number | null] | "one port">> = {
  "Kubernetes API": "one port",
  "Additional port": "one port",
  Etcd: [2379, 2380],
  "Kubelet API": [10250, 10250],
  "Node Port Services": [30000, 32767],
  SSH: [22, 22],
  "In-cluster Ingress": [null, null],
};

/** True for a rule that was made for this cluster: one of the built-in ones, or one whose hash is recorded. */
export function isOurRule(rule: SecurityGroupRule, recorded: ReadonlySet<string>): boolean {
  if (recorded.has(ruleHash(rule))) return true;
  const ports = Object.hasOwn(builtIn, rule.description) ? builtIn[rule.description] : undefined;
  if (ports === undefined || rule.direction !== "ingress") return false;
  if (ports === "one port") return rule.port_range_min !== null && rule.port_range_min === rule.port_range_max;
  return rule.port_range_min === ports[0] && rule.port_range_max === ports[1];
}

/** Short enough for a list of hundreds in one annotation. */
export function ruleHash(rule: SecurityGroupRule | SecurityGroupRuleCreate): string {
  return createHash("sha256").update(ruleKey(rule)).digest("hex").slice(0, 16);
}

/** The hashes in the annotation causeway.dev/security-group-rules; see `ruleHash`. */
export function recordedRules({ metadata }: OpenStackCluster): ReadonlySet<string> {
  return new Set((metadata.annotations?.[rulesAnnotation] ?? "").split(",").filter((hash) => hash !== ""));
}
