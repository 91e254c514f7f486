import type { AccountKind } from "../kit/accounts.ts";
import { at, bodyOf, isObject, type JsonObject } from "../../kernel/json.ts";
import { list } from "../listing.ts";
import { identityId, type Domain } from "../model.ts";
import { baseOf, requireAdmin, type IdentityApp, type IdentityContext, type IdentityParts } from "../kit/request.ts";
import type { JsonView } from "../views.ts";

/** A domain as the project that it is, too: https://docs.openstack.org/api-ref/identity/v3/#projects . */
const asProject = (d: Domain, base: string): JsonView => ({
  ...d.extra,
  id: d.id,
  name: d.name,
  domain_id: null,
  description: d.description,
  enabled: d.enabled,
  parent_id: null,
  is_domain: true,
  tags: [],
  options: {},
  links: { self: `${base}/projects/${d.id}` },
});

/**
 * Domains below /v3/projects: made with `is_domain`, listed only when they are requested. Is tried before the projects'
 * own routes.
 */
export function mountDomainProjects(
  app: IdentityApp,
  { kernel, tables }: IdentityParts,
  kind: AccountKind<Domain>,
): void {
  const path = "/v3/projects";
  const domainOf = (c: IdentityContext) => tables.domains.get(c.req.param("id") ?? "");
  const given = async (c: IdentityContext): Promise<JsonObject> => {
    const project = at(await bodyOf(c.req), "project");
    return isObject(project) ? project : {};
  };
  app.get(path, async (c, next) => {
    if (!/^(true|1)$/i.test(c.req.query("is_domain") ?? "")) return next();
    requireAdmin(c, "list_projects");
    return list(
      c,
      "projects",
      tables.domains.all().map((domain) => asProject(domain, baseOf(c))),
    );
  });
  app.post(path, async (c, next) => {
    const body = await given(c);
    if (body["is_domain"] !== true || typeof body["name"] !== "string") return next();
    requireAdmin(c, "create_project");
    const { is_domain: _isDomain, domain_id: _domain, ...rest } = body;
    const domain = tables.domains.insert(kind.make(identityId(kernel), rest, c));
    return c.json({ project: asProject(domain, baseOf(c)) }, 201);
  });
  app.get(`${path}/:id`, async (c, next) => {
    const domain = domainOf(c);
    if (!domain) return next();
    requireAdmin(c, "get_project");
    return c.json({ project: asProject(domain, baseOf(c)) });
  });
  app.patch(`${path}/:id`, async (c, next) => {
    const domain = domainOf(c);
    if (!domain) return next();
    requireAdmin(c, "update_project");
    const changed = tables.domains.update(domain.id, kind.change(domain, await given(c)));
    return c.json({ project: { ...asProject(changed, baseOf(c)), extra: {} } });
  });
  app.delete(`${path}/:id`, async (c, next) => {
    const domain = domainOf(c);
    if (!domain) return next();
    requireAdmin(c, "delete_project");
    kernel.atomic(() => {
      kind.release?.(domain);
      tables.domains.remove(domain.id);
    });
    return c.body(null, 204);
  });
}
