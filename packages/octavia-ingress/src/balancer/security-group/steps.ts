import type { SecurityGroupRuleCreate } from "@causeway/openstack";

/** A port with all its security groups as they are to be. */
export interface GroupedPort {
  readonly id: string;
  /** Of the port that the groups were read from; a port that has changed since is left alone until it is read again. */
  readonly revision: number | undefined;
  readonly groups: readonly string[];
}

/** A rule before its group is known. */
export type Rule = Omit<SecurityGroupRuleCreate, "security_group_id">;

/** One call to Neutron, or a few that belong together, for the security group of a load balancer's members. */
export type GroupStep =
  | {
      readonly type: "create-security-group";
      readonly name: string;
      readonly description: string;
      readonly tags: readonly string[];
    }
  | { readonly type: "tag-security-group"; readonly id: string; readonly tags: readonly string[] }
  | { readonly type: "add-security-group-rules"; readonly groupId: string; readonly rules: readonly Rule[] }
  | { readonly type: "remove-security-group-rules"; readonly groupId: string; readonly ids: readonly string[] }
  | { readonly type: "set-port-security-groups"; readonly ports: readonly GroupedPort[] }
  | { readonly type: "delete-security-group"; readonly id: string };
