import type { Identified, Table } from "../../kernel/interface.ts";
import { whole, selfOf } from "../listing.ts";
import { identityError } from "../model.ts";
import { plainTable } from "../kit/plain-kinds.ts";
import { baseOf, requireAdmin, type IdentityApp, type IdentityContext, type IdentityParts } from "../kit/request.ts";
import { endpointViews, projectView } from "../views.ts";

interface Association extends Identified {
  readonly project_id: string;
  readonly endpoint_id: string;
}

/** Which endpoints a project is to see: stored and returned; a token's catalog has all of them. */
export function mountEndpointFilters(app: IdentityApp, parts: IdentityParts): void {
  const { kernel, tables, source } = parts;
  const table: Table<Association> = kernel.table("_endpoint_filter", ["project_id", "endpoint_id"]);
  const path = "/v3/OS-EP-FILTER/projects/:project/endpoints";
  const endpointsOf = (c: IdentityContext) => [
    ...endpointViews(source, new URL(c.req.url).origin, baseOf(c)),
    ...plainTable(parts, "endpoint")
      .all()
      .map(({ id, fields }) => ({ ...fields, id, links: { self: `${baseOf(c)}/endpoints/${id}` } })),
  ];
  const project = (c: IdentityContext): string => {
    const id = c.req.param("project") ?? "";
    if (!tables.projects.get(id)) throw identityError(404, `Could not find project: ${id}.`);
    return id;
  };
  const endpoint = (c: IdentityContext): string => {
    const id = c.req.param("endpoint") ?? "";
    if (!endpointsOf(c).some((view) => view["id"] === id)) throw identityError(404, `Could not find endpoint: ${id}.`);
    return id;
  };
  const both = (c: IdentityContext) => {
    const [endpoint_id, project_id] = [endpoint(c), project(c)];
    return { id: `${project_id}/${endpoint_id}`, project_id, endpoint_id };
  };
  const kept = (c: IdentityContext): string => {
    const { id, project_id, endpoint_id } = both(c);
    if (table.get(id)) return id;
    throw identityError(404, `Endpoint ${endpoint_id} not found in project ${project_id}`);
  };
  app.get(path, (c) => {
    requireAdmin(c, "list_endpoints_for_project");
    const ids = new Set(table.by("project_id", project(c)).map((row) => row.endpoint_id));
    const views = endpointsOf(c).filter((view) => ids.has(String(view["id"])));
    return c.json({ endpoints: views, links: { next: null, self: selfOf(c), previous: null } });
  });
  app.put(`${path}/:endpoint`, (c) => {
    requireAdmin(c, "add_endpoint_to_project");
    const row = both(c);
    if (!table.get(row.id)) table.insert(row);
    return c.body(null, 204);
  });
  app.get(`${path}/:endpoint`, (c) => {
    requireAdmin(c, "check_endpoint_in_project");
    kept(c);
    return c.body(null, 204);
  });
  app.delete(`${path}/:endpoint`, (c) => {
    requireAdmin(c, "remove_endpoint_from_project");
    table.remove(kept(c));
    return c.body(null, 204);
  });
  app.get("/v3/OS-EP-FILTER/endpoints/:endpoint/projects", (c) => {
    requireAdmin(c, "list_projects_for_endpoint");
    const ids = table.by("endpoint_id", endpoint(c)).map((row) => row.project_id);
    const found = ids.flatMap((id) => tables.projects.get(id) ?? []);
    return whole(
      c,
      "projects",
      found.map((p) => projectView(p, baseOf(c))),
    );
  });
}
