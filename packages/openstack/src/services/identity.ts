import type { ServiceClient } from "../session/client.ts";
import type { CallOptions } from "../types/collection.ts";
import type * as I from "../types/identity.ts";
import { createCollection, ignoringNotFound } from "./collection.ts";
import { objectIn } from "./wire.ts";

const PATCHED = { method: "PATCH" } as const;

/** Keystone. `currentUserId` comes from the session's token. */
export function createIdentityService(
  client: ServiceClient,
  currentUserId: (options?: CallOptions) => Promise<string>,
): I.IdentityService {
  const collection = <T, Create>(one: string, many: string) =>
    createCollection<T, Create>(client, { route: `/${many}`, one, many, change: PATCHED });
  const token = (method: "GET" | "DELETE", subject: string, options?: CallOptions) =>
    client.send({ method, route: "/auth/tokens", headers: { "X-Subject-Token": subject } }, options);
  const member = async (method: "PUT" | "DELETE", ids: readonly string[], options?: CallOptions) => {
    await client.send({ method, route: "/groups/{id}/users/{id}", ids }, options);
  };
  return {
    projects: collection<I.Project, I.ProjectCreate>("project", "projects"),
    domains: collection<I.Domain, I.DomainCreate>("domain", "domains"),
    users: collection<I.User, I.UserCreate>("user", "users"),
    groups: collection<I.Group, I.GroupCreate>("group", "groups"),
    roles: collection<I.Role, I.RoleCreate>("role", "roles"),
    regions: collection("region", "regions"),
    services: collection("service", "services"),
    endpoints: collection("endpoint", "endpoints"),
    trusts: createCollection<I.Trust, I.TrustCreate, never>(client, {
      route: "/OS-TRUST/trusts",
      one: "trust",
      many: "trusts",
    }),
    roleAssignments: createCollection<I.RoleAssignment, never>(client, {
      route: "/role_assignments",
      one: "role_assignment",
      many: "role_assignments",
    }),
    applicationCredentials: (userId) =>
      createCollection<I.ApplicationCredential, I.ApplicationCredentialCreate, never>(client, {
        route: "/users/{id}/application_credentials",
        parents: [userId],
        one: "application_credential",
        many: "application_credentials",
      }),
    async grant(grant, options) {
      await client.send({ method: "PUT", ...grantRoute(grant) }, options);
    },
    revoke: (grant, options) => ignoringNotFound(client.send({ method: "DELETE", ...grantRoute(grant) }, options)),
    addToGroup: (group, user, options) => member("PUT", [group, user], options),
    removeFromGroup: (group, user, options) => ignoringNotFound(member("DELETE", [group, user], options)),
    validateToken: async (subject, options) => objectIn(await token("GET", subject, options), "token"),
    revokeToken: (subject, options) => ignoringNotFound(token("DELETE", subject, options)),
    currentUserId,
  };
}

function grantRoute({ user, group, project, domain, role }: I.Grant): { route: string; ids: string[] } {
  const where = project === undefined ? "domains" : "projects";
  const who = user === undefined ? "groups" : "users";
  return { route: `/${where}/{id}/${who}/{id}/roles/{id}`, ids: [project ?? domain ?? "", user ?? group ?? "", role] };
}
