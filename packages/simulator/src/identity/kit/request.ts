import type { Context } from "hono";
import type { Caller, Kernel, Service } from "../../kernel/interface.ts";
import { identityError, unauthorized, type IdentityTables } from "../model.ts";
import type { Tokens } from "../rules/tokens.ts";
import type { CatalogSource } from "../views.ts";

/** The Hono environment of Keystone's routes. The caller is absent where a request has no token: `callerOf`. */
export type IdentityEnv = { Variables: { caller: Caller } };
/** Where Keystone's routes are added. */
export type IdentityApp = Service["app"];
/** A request to Keystone. */
export type IdentityContext = Context<IdentityEnv>;

/** What Keystone's routes work with; `source` is what the catalog is made of. */
export interface IdentityParts {
  readonly kernel: Kernel;
  readonly tables: IdentityTables;
  readonly tokens: Tokens;
  readonly source: CatalogSource;
}

/** The base URL of this Keystone, as the caller sees it: "http://127.0.0.1:5000/identity/v3". */
export const baseOf = (c: Context): string => `${new URL(c.req.url).origin}/identity/v3`;

/** The caller, or Keystone's 401. */
export function callerOf(c: IdentityContext): Caller {
  const caller = c.get("caller") as Caller | undefined;
  if (!caller) throw unauthorized();
  return caller;
}

/** Throws Keystone's 403 unless the caller is an admin. */
export function requireAdmin(c: IdentityContext, rule: string): void {
  if (!callerOf(c).isAdmin) {
    throw identityError(403, `You are not authorized to perform the requested action: identity:${rule}.`);
  }
}
