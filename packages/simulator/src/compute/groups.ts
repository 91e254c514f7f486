import { at, bodyOf, isObject, textAt } from "../kernel/json.ts";
import { invalid } from "./create-request.ts";
import { computeError, type ComputeApp, type ComputeParts, type ServerGroup } from "./model.ts";
import { pythonRepr } from "../kernel/python.ts";

const policies = ["anti-affinity", "affinity", "soft-anti-affinity", "soft-affinity"];

/** Server groups. Before 2.64 a list of policies and metadata, from then on one policy and rules. */
export function addGroupRoutes(app: ComputeApp, parts: ComputeParts): void {
  const { kernel, tables } = parts;
  const view = ({ policy, rules, ...group }: ServerGroup, minor: number) => ({
    id: group.id,
    name: group.name,
    ...(minor >= 64 ? { policy, rules } : { policies: [policy], metadata: {} }),
    members: group.members,
    ...(minor >= 13 ? { project_id: group.project_id, user_id: group.user_id } : {}),
  });
  app.get("/v2.1/os-server-groups", (c) => {
    const caller = c.get("caller");
    const all = caller.isAdmin && c.req.query("all_projects") !== undefined;
    const groups = all ? tables.groups.all() : tables.groups.by("project_id", caller.projectId);
    return c.json({ server_groups: groups.map((group) => view(group, c.get("minor"))) });
  });
  app.post("/v2.1/os-server-groups", async (c) => {
    const given = at(await bodyOf(c.req), "server_group");
    const { name, policy, rules } = readGroup(given, c.get("minor"));
    const { projectId: project_id, userId: user_id } = c.get("caller");
    const limit = kernel.quota(project_id, "server_groups");
    if (limit >= 0 && tables.groups.by("project_id", project_id).length >= limit) {
      throw computeError(403, "Quota exceeded, too many server groups.");
    }
    const group = { id: kernel.newId(), name, policy, rules, members: [], project_id, user_id };
    return c.json({ server_group: view(tables.groups.insert(group), c.get("minor")) });
  });
  const groupOf = (id: string, projectId: string, isAdmin: boolean) => {
    const group = tables.groups.get(id);
    if (group && (group.project_id === projectId || isAdmin)) return group;
    throw computeError(404, `Instance group ${id} could not be found.`);
  };
  app.get("/v2.1/os-server-groups/:id", (c) => {
    const { projectId, isAdmin } = c.get("caller");
    return c.json({ server_group: view(groupOf(c.req.param("id"), projectId, isAdmin), c.get("minor")) });
  });
  app.delete("/v2.1/os-server-groups/:id", (c) => {
    const { projectId, isAdmin } = c.get("caller");
    const group = groupOf(c.req.param("id"), projectId, isAdmin);
    for (const id of group.members) if (tables.servers.get(id)) tables.servers.update(id, { group_id: null });
    tables.groups.remove(group.id);
    return c.body(null, 204);
  });
}

function readGroup(given: unknown, minor: number): Pick<ServerGroup, "name" | "policy" | "rules"> {
  if (!isObject(given)) throw computeError(400, "'server_group' is a required property");
  const wanted = minor >= 64 ? "policy" : "policies";
  const missing = ["name", wanted].find((field) => given[field] === undefined);
  if (missing !== undefined) throw invalid("server_group", given, `'${missing}' is a required property`);
  const first: unknown = Array.isArray(given["policies"]) ? given["policies"][0] : undefined;
  const policy = minor >= 64 ? given["policy"] : first;
  const allowed = minor >= 15 ? policies : policies.slice(0, 2);
  if (typeof policy !== "string" || !allowed.includes(policy)) {
    throw invalid(
      wanted === "policy" ? "policy" : "0",
      policy,
      `${pythonRepr(policy)} is not one of ${pythonRepr(allowed)}`,
    );
  }
  const spread = at(given, "rules", "max_server_per_host");
  return {
    name: textAt(given, "name") ?? "",
    policy,
    rules: typeof spread === "number" ? { max_server_per_host: spread } : {},
  };
}
