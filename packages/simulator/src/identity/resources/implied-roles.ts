import type { Table } from "../../kernel/interface.ts";
import { identityError, type IdentityTables, type Role } from "../model.ts";
import { baseOf, requireAdmin, type IdentityApp, type IdentityContext, type IdentityParts } from "../kit/request.ts";
import { implicationsOf, type Implication } from "../rules/roles.ts";
import type { JsonView } from "../views.ts";

/** Roles that bring others with them: /v3/roles/{prior}/implies and /v3/role_inferences. */
export function mountImpliedRoles(app: IdentityApp, { kernel, tables }: IdentityParts): void {
  const implications = implicationsOf(kernel);
  const one = "/v3/roles/:prior/implies/:implied";
  const role = (c: IdentityContext, which: "prior" | "implied"): Role => {
    const id = c.req.param(which) ?? "";
    const found = tables.roles.get(id);
    if (!found) throw identityError(404, `Could not find role: ${id}.`);
    return found;
  };
  const keyOf = (c: IdentityContext) => `${role(c, "prior").id}/${role(c, "implied").id}`;
  const kept = (c: IdentityContext): Implication => {
    const found = implications.get(keyOf(c));
    if (found) return found;
    throw identityError(404, `${c.req.param("prior") ?? ""} does not imply ${c.req.param("implied") ?? ""}.`);
  };
  const inference = (c: IdentityContext, prior: Role, implied: readonly Role[] | Role): JsonView => {
    const brief = (r: Role) => ({ id: r.id, name: r.name, links: { self: `${baseOf(c)}/roles/${r.id}` } });
    return { prior_role: brief(prior), implies: "id" in implied ? brief(implied) : implied.map(brief) };
  };
  app.get("/v3/role_inferences", (c) => {
    requireAdmin(c, "list_role_inference_rules");
    const priors = [...new Set(implications.all().map((i) => i.prior))].flatMap((id) => tables.roles.get(id) ?? []);
    return c.json({
      role_inferences: priors.map((prior) => inference(c, prior, impliedBy(implications, tables, prior))),
      links: { self: `${baseOf(c)}/role_inferences` },
    });
  });
  app.get("/v3/roles/:prior/implies", (c) => {
    requireAdmin(c, "list_implied_roles");
    const prior = role(c, "prior");
    return c.json({
      role_inference: inference(c, prior, impliedBy(implications, tables, prior)),
      links: { self: `${baseOf(c)}/roles/${prior.id}/implies` },
    });
  });
  app.put(one, (c) => {
    requireAdmin(c, "create_implied_role");
    const [prior, implied] = [role(c, "prior"), role(c, "implied")];
    if (implied.name === "admin") throw identityError(403, `${implied.id} cannot be an implied roles.`);
    if ((prior.domain_id ?? null) === null && (implied.domain_id ?? null) !== null) {
      throw identityError(403, `Domain-specific role ${implied.id} cannot be implied by the global role ${prior.id}.`);
    }
    const id = keyOf(c);
    if (implications.get(id)) {
      throw identityError(409, "Conflict occurred attempting to store implied_role - Duplicate entry.");
    }
    implications.insert({ id, prior: prior.id, implied: implied.id });
    return c.json(
      {
        role_inference: inference(c, prior, implied),
        links: { self: `${baseOf(c)}/roles/${prior.id}/implies/${implied.id}` },
      },
      201,
    );
  });
  app.get(one, (c) => {
    requireAdmin(c, "get_implied_role");
    kept(c);
    if (c.req.method === "HEAD") return c.body(null, 204);
    const [prior, implied] = [role(c, "prior"), role(c, "implied")];
    return c.json({
      role_inference: inference(c, prior, implied),
      links: { self: `${baseOf(c)}/roles/${prior.id}/implies/${implied.id}` },
    });
  });
  app.delete(one, (c) => {
    requireAdmin(c, "delete_implied_role");
    implications.remove(kept(c).id);
    return c.body(null, 204);
  });
}

const impliedBy = (table: Table<Implication>, tables: IdentityTables, prior: Role): readonly Role[] =>
  table
    .all()
    .filter((i) => i.prior === prior.id)
    .flatMap((i) => tables.roles.get(i.implied) ?? []);
