import type { MiddlewareHandler } from "hono";
import type { Caller } from "../../kernel/interface.ts";
import { denied } from "../errors.ts";

/** Roles that may read what their project owns. */
const readers = ["load-balancer_observer", "load-balancer_member"];
/** Only administrators may read these. */
const administrators =
  /\/(amphorae|flavorprofiles|availabilityzoneprofiles|flavor_capabilities|availability_zone_capabilities)(\/|$)/;

/**
 * Octavia's own roles, as its default policy has them
 * (https://docs.openstack.org/octavia/zed/configuration/policy.html): a role of the project alone opens nothing. From
 * here on `isAdmin` says that the caller may see, or do, as the service's administrator.
 */
export const byRole: MiddlewareHandler<{ Variables: { caller: Caller } }> = async (c, next) => {
  const caller: Caller | undefined = c.var.caller;
  if (caller && /\/v2(\.0)?\/./.test(c.req.path)) c.set("caller", admitted(caller, c.req));
  await next();
};

function admitted(caller: Caller, { method, path }: { readonly method: string; readonly path: string }): Caller {
  const has = (...roles: readonly string[]) => roles.some((role) => caller.roles.includes(role));
  const quotas = /\/quotas(\/|$)/.test(path);
  if (caller.isAdmin || has("load-balancer_admin") || (quotas && has("load-balancer_quota_admin"))) {
    return { ...caller, isAdmin: true };
  }
  if (method !== "GET") {
    if (has("load-balancer_member")) return caller;
    throw denied();
  }
  if (has("load-balancer_global_observer")) return { ...caller, isAdmin: !administrators.test(path) };
  if (has(...readers)) return caller;
  throw denied();
}
