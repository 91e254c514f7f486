import type { Identity } from "@causeway/openstack";
import { hasFormOfId, isOneOf } from "../plan-id.ts";
import {
  DOMAIN_ID,
  DOMAIN_NAME,
  PROJECT_DOMAIN_ID,
  PROJECT_DOMAIN_NAME,
  PROJECT_ID,
  PROJECT_NAME,
  ROLES,
  type KubernetesUser,
} from "../user.ts";

/** What one role in Keystone means in the cluster; fields as in upstream's `role-mappings`. */
export interface RoleMapping {
  readonly keystoneRole: string;
  /** Replaces the user's name. */
  readonly username?: string;
  /** Added to the user's groups. */
  readonly groups: readonly string[];
}

/** The user that a token represents, or why it represents none. */
export type IdentityVerdict =
  | { readonly user: KubernetesUser; /** Groups of Keystone that were left out. */ readonly dropped: readonly string[] }
  | { readonly refused: string };

/** What of a group in Keystone becomes a group of the cluster. */
export type KeystoneGroup = Pick<Identity.Group, "name" | "domain_id">;

/** Whose tokens are accepted at all. */
export interface IdentityRules {
  /** Ids of the projects whose tokens are accepted; undefined: all. */
  readonly projects?: readonly string[] | undefined;
  /** Ids or names of the domains whose users, projects and groups are accepted; undefined: all. */
  readonly domains?: readonly string[] | undefined;
}

/**
 * How names begin that Kubernetes and kubeadm keep for themselves: a user or group of Keystone that has one would be an
 * administrator of the cluster.
 */
const RESERVED = ["system:", "kubeadm:"];
const isReserved = (name: string): boolean => RESERVED.some((start) => name.startsWith(start));

/** The user of a valid token: its groups are the names of the Keystone groups and the project's id. */
export function identityOf(
  facts: Identity.TokenFacts,
  groups: readonly KeystoneGroup[],
  { projects, domains }: IdentityRules = {},
): IdentityVerdict {
  const { project, user } = facts;
  if (project === undefined) return { refused: "the token has no project: request one that is scoped to a project" };
  if (projects !== undefined && !projects.includes(project.id)) {
    return { refused: `the token is for project ${project.id}, which has no access to this cluster` };
  }
  for (const [what, domain] of [
    [`project ${project.id}`, project.domain],
    [`user ${user.id}`, user.domain],
  ] as const) {
    if (domains !== undefined && !isOneOf(domains, { ids: [domain.id], names: [domain.name] }))
      return { refused: `${what} is in domain ${domain.id}, which has no access to this cluster` };
  }
  if (user.name === "") return { refused: `user ${user.id} has no name` };
  if (isReserved(user.name)) {
    const starts = RESERVED.map((start) => `"${start}"`).join(" or ");
    return { refused: `the name of user ${user.id} begins with ${starts}, which Kubernetes keeps for itself` };
  }
  if (hasFormOfId(user.name) && user.name !== user.id)
    return { refused: `the name of user ${user.id} has the form of an id and is not its own: rename the user` };
  // Of a group the domain's id is known alone; the domains of user and project have been accepted.
  const groupDomains = domains && [...domains, user.domain.id, project.domain.id];
  const kept = groups
    .filter(({ name }) => name !== "" && !isReserved(name) && !hasFormOfId(name))
    .filter(({ domain_id }) => groupDomains?.includes(domain_id) !== false)
    .map(({ name }) => name);
  return {
    user: {
      username: user.name,
      uid: user.id,
      groups: [...new Set([...kept, project.id])],
      extra: {
        [ROLES]: (facts.roles ?? []).map((role) => role.name),
        [PROJECT_ID]: [project.id],
        [PROJECT_NAME]: [project.name],
        [PROJECT_DOMAIN_ID]: [project.domain.id],
        [PROJECT_DOMAIN_NAME]: [project.domain.name],
        [DOMAIN_ID]: [user.domain.id],
        [DOMAIN_NAME]: [user.domain.name],
      },
    },
    dropped: groups.map(({ name }) => name).filter((name) => !kept.includes(name)),
  };
}

/** The user with the names and groups that its roles bring. The last mapping with a username wins. */
export function mapRoles(user: KubernetesUser, mappings: readonly RoleMapping[]): KubernetesUser {
  const roles = user.extra[ROLES] ?? [];
  return mappings
    .filter((mapping) => mapping.keystoneRole !== "" && roles.includes(mapping.keystoneRole))
    .reduce<KubernetesUser>(
      (mapped, { username, groups }) => ({
        ...mapped,
        username: username === undefined || username === "" ? mapped.username : username,
        groups: [...mapped.groups, ...groups],
      }),
      user,
    );
}
