import { define } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { BINDING_COLUMNS, CLUSTER_ROLE_COLUMNS } from "./columns.ts";
import { bindingStrategy, roleStrategy } from "./strategy.ts";

/** Kinds of group rbac.authorization.k8s.io. */
export function rbacKinds(): Resource[] {
  const group = "rbac.authorization.k8s.io";
  return [
    define({ group, kind: "Role", plural: "roles", strategy: roleStrategy }),
    define({
      group,
      kind: "ClusterRole",
      plural: "clusterroles",
      clusterScoped: true,
      strategy: roleStrategy,
      columns: CLUSTER_ROLE_COLUMNS,
    }),
    define({ group, kind: "RoleBinding", plural: "rolebindings", strategy: bindingStrategy, columns: BINDING_COLUMNS }),
    define({
      group,
      kind: "ClusterRoleBinding",
      plural: "clusterrolebindings",
      clusterScoped: true,
      strategy: bindingStrategy,
      columns: BINDING_COLUMNS,
    }),
  ];
}
