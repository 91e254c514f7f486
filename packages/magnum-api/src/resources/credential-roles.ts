import type { Caller } from "../access/caller.ts";
import { forbidden } from "../wire/error.ts";

/**
 * What clouds ask for in addition, where the caller has it: `reader`, since Keystone gives the token of an application
 * credential no implied roles, Octavia's role, and Barbican's.
 */
const ADDED = ["reader", "load-balancer_member", "creator"];

/**
 * The roles of a credential that a member's cluster has: those that clusters need, and of no more, whatever the caller
 * has in addition: a cluster of an administrator must not work as one.
 * @throws MagnumError 403 for a caller who has none of `needed`
 */
export function credentialRoles({ roles }: Pick<Caller, "roles">, needed: readonly string[]): readonly string[] {
  if (!needed.some((role) => roles.includes(role)))
    throw forbidden(
      `The credential of a cluster has role ${needed.join(" or ")} of the user who creates it, and you do not have it in this project. Ask an administrator for the role, or the operator to name others with --trustee-roles.`,
    );
  return [...new Set([...needed, ...ADDED])].filter((role) => roles.includes(role));
}
