import { at, bodyOf } from "../../kernel/json.ts";
import { identityError, schemaError, type Project } from "../model.ts";
import { baseOf, requireAdmin, type IdentityApp, type IdentityContext, type IdentityParts } from "../kit/request.ts";

const path = "/v3/projects/:id/tags";

/** Tags of projects, one by one and all together. */
export function mountProjectTags(app: IdentityApp, { tables }: IdentityParts): void {
  const project = (c: IdentityContext, rule: string): Project => {
    requireAdmin(c, rule);
    const found = tables.projects.get(c.req.param("id") ?? "");
    if (!found) throw identityError(404, `Could not find project: ${c.req.param("id") ?? ""}.`);
    return found;
  };
  const has = (c: IdentityContext, { tags = [] }: Project): string => {
    const tag = c.req.param("tag") ?? "";
    if (!tags.includes(tag)) throw identityError(404, `Could not find project tag: ${tag}.`);
    return tag;
  };
  const answer = (c: IdentityContext, tags: readonly string[]) => c.json({ links: { self: baseOf(c) }, tags });

  app.get(path, (c) => answer(c, project(c, "list_project_tags").tags ?? []));
  app.put(path, async (c) => {
    const { id } = project(c, "update_project_tags");
    const tags = at(await bodyOf(c.req), "tags");
    if (!Array.isArray(tags)) throw schemaError("'tags' is a required property");
    return answer(c, tables.projects.update(id, { tags: tags.map(String) }).tags ?? []);
  });
  app.delete(path, (c) => {
    tables.projects.update(project(c, "delete_project_tags").id, { tags: [] });
    return c.body(null, 204);
  });
  app.get(`${path}/:tag`, (c) => {
    has(c, project(c, "get_project_tag"));
    return c.body(null, 204);
  });
  app.put(`${path}/:tag`, (c) => {
    const { id, tags = [] } = project(c, "create_project_tag");
    const tag = c.req.param("tag");
    tables.projects.update(id, { tags: [...new Set([...tags, tag])] });
    return c.body(null, 201, { location: `${baseOf(c)}/${id}/tags/${tag}` });
  });
  app.delete(`${path}/:tag`, (c) => {
    const found = project(c, "delete_project_tag");
    const tag = has(c, found);
    tables.projects.update(found.id, { tags: (found.tags ?? []).filter((t) => t !== tag) });
    return c.body(null, 204);
  });
}
