import { at, textAt, type JsonObject } from "../../kernel/json.ts";
import { ownedBy } from "../../kernel/rest/owned.ts";
import { exceededLimit } from "../../kernel/rest/quota.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { invalid } from "../rules/create-request.ts";
import { computeError, type ComputeApp, type ComputeEnv, type ComputeParts, type ServerGroup } from "../model.ts";
import { pythonRepr } from "../../kernel/python.ts";

const policies = ["anti-affinity", "affinity", "soft-anti-affinity", "soft-affinity"];

/** Server groups. Before 2.64 a list of policies and metadata, from then on one policy and rules. */
export function mountGroups(app: ComputeApp, parts: ComputeParts): void {
  const { kernel, tables } = parts;
  mountResource<ComputeEnv, ServerGroup>(app, kernel, {
    path: "/v2.1/os-server-groups",
    one: "server_group",
    many: "server_groups",
    statuses: { create: 200 },
    bodyMissing: () => computeError(400, "'server_group' is a required property"),
    find(c) {
      const id = c.req.param("id") ?? "";
      const missing = () => computeError(404, `Instance group ${id} could not be found.`);
      return ownedBy(c.get("caller"), tables.groups.get(id), missing);
    },
    list(c) {
      const caller = c.get("caller");
      const all = caller.isAdmin && c.req.query("all_projects") !== undefined;
      return { rows: all ? tables.groups.all() : tables.groups.by("project_id", caller.projectId) };
    },
    view(c, { id, name, policy, rules, members, project_id, user_id }) {
      const minor = c.get("minor");
      return {
        id,
        name,
        ...(minor >= 64 ? { policy, rules } : { policies: [policy], metadata: {} }),
        members,
        ...(minor >= 13 ? { project_id, user_id } : {}),
      };
    },
    create(c, given) {
      const { name, policy, rules } = readGroup(given, c.get("minor"));
      const { projectId: project_id, userId: user_id } = c.get("caller");
      const used = tables.groups.by("project_id", project_id).length;
      if (exceededLimit(kernel, project_id, { resource: "server_groups", used }) !== undefined) {
        throw computeError(403, "Quota exceeded, too many server groups.");
      }
      return tables.groups.insert({ id: kernel.newId(), name, policy, rules, members: [], project_id, user_id });
    },
    remove(_c, group) {
      for (const id of group.members) if (tables.servers.get(id)) tables.servers.update(id, { group_id: null });
      tables.groups.remove(group.id);
    },
  });
}

function readGroup(given: JsonObject, minor: number): Pick<ServerGroup, "name" | "policy" | "rules"> {
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
