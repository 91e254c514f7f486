/** The user as Kubernetes sees it (authentication.k8s.io UserInfo). */
export interface KubernetesUser {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The keys of `extra`, as k8s-keystone-auth has them. */
export const ROLES = "alpha.kubernetes.io/identity/roles";
/** The id of the project that the token is scoped to. */
export const PROJECT_ID = "alpha.kubernetes.io/identity/project/id";
/** The name of the project that the token is scoped to. */
export const PROJECT_NAME = "alpha.kubernetes.io/identity/project/name";
/** Not in upstream. */
export const PROJECT_DOMAIN_ID = "alpha.kubernetes.io/identity/project/domain/id";
/** The name of that project's domain. Not in upstream. */
export const PROJECT_DOMAIN_NAME = "alpha.kubernetes.io/identity/project/domain/name";
/** The id of the user's domain. */
export const DOMAIN_ID = "alpha.kubernetes.io/identity/user/domain/id";
/** The name of the user's domain. */
export const DOMAIN_NAME = "alpha.kubernetes.io/identity/user/domain/name";
