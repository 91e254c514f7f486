import type { SecurityGroupRuleCreate } from "@causeway/openstack";

/** A port with all its security groups as they shall be. */
export interface GroupedPort {
  readonly id: string;
  /**
   * Of the port that the groups were read from; a port that has changed since is left alone until the next reconcile.
   */
  readonly revision: number | undefined;
  readonly groups: readonly string[];
}

/** A rule before its group is known. */
export type Rule = Omit<SecurityGroupRuleCreate, "security_group_id">;

/** One call to Neutron, or a few that belong together, for a Service's security group. */
export type Step =
  | { readonly type: "create-group"; readonly name: string; readonly description: string }
  | { readonly type: "add-rules"; readonly groupId: string; readonly rules: readonly Rule[] }
  | { readonly type: "remove-rules"; readonly ids: readonly string[] }
  | { readonly type: "set-port-groups"; readonly ports: readonly GroupedPort[] }
  | { readonly type: "delete-group"; readonly id: string };
