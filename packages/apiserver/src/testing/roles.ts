import type { Json } from "../json/json.ts";

const GROUP = "rbac.authorization.k8s.io";

export const resource = (more: Json = {}): Json => ({ verbs: ["get"], apiGroups: [""], resources: ["pods"], ...more });

export const role = (name: string, rules: readonly Json[], namespace?: string): Json => ({
  kind: namespace ? "Role" : "ClusterRole",
  metadata: { name, ...(namespace ? { namespace } : {}) },
  rules,
});
/** `of` is the kind and name of its role. */
export const binding = (
  name: string,
  of: readonly [string, string],
  subjects: readonly Json[],
  namespace?: string,
): Json => ({
  kind: namespace ? "RoleBinding" : "ClusterRoleBinding",
  metadata: { name, ...(namespace ? { namespace } : {}) },
  roleRef: { apiGroup: GROUP, kind: of[0], name: of[1] },
  subjects,
});
export const user = (name: string): Json => ({ kind: "User", name });
