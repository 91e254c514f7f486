/** Who a request comes from (authentication.k8s.io/v1 UserInfo). */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Who sends a request without credentials. */
export const ANONYMOUS: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** The server's own controllers. */
export const SYSTEM: User = { name: "system:apiserver", groups: ["system:masters", "system:authenticated"] };

/** The user with the group of all who have credentials. */
export function authenticated(user: User): User {
  return user.groups.includes("system:authenticated")
    ? user
    : { ...user, groups: [...user.groups, "system:authenticated"] };
}
