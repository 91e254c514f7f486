import { at, bodyOf, isObject } from "../../kernel/json.ts";
import { everyProject } from "../../kernel/settings.ts";
import { invalid } from "../rules/create-request.ts";
import { usageOf } from "../rules/limits.ts";
import { computeError, requireAdmin, type ComputeApp, type ComputeParts } from "../model.ts";
import { pythonRepr } from "../../kernel/python.ts";
import type { ComputeContext } from "../views.ts";

/** Limits and quotas: what a project may read about itself. */
export function mountProject(app: ComputeApp, parts: ComputeParts): void {
  mountQuotas(app, parts);
  app.get("/v2.1/limits", (c) => c.json({ limits: { rate: [], absolute: limitsOf(c, parts) } }));
}

const quotaFields = [
  "cores",
  "instances",
  "key_pairs",
  "metadata_items",
  "ram",
  "server_group_members",
  "server_groups",
];

/** Quotas that went away with 2.36 and 2.57; networks' are kept and have no effect. */
const oldQuotas = (minor: number): readonly string[] => [
  ...(minor < 36 ? ["fixed_ips", "floating_ips", "security_group_rules", "security_groups"] : []),
  ...(minor < 57 ? ["injected_file_content_bytes", "injected_file_path_bytes", "injected_files"] : []),
];

function mountQuotas(app: ComputeApp, parts: ComputeParts): void {
  const { kernel } = parts;
  const path = "/v2.1/os-quota-sets/:project";
  const limits = (project: string, minor: number) =>
    Object.fromEntries([...oldQuotas(minor), ...quotaFields].map((field) => [field, kernel.quota(project, field)]));
  const projectOf = (c: ComputeContext, rule: string) => {
    const project = c.req.param("project") ?? "";
    const own = project === c.get("caller").projectId && rule !== "update" && rule !== "delete";
    if (!own) requireAdmin(c.get("caller"), `os-quota-sets:${rule}`);
    return project;
  };
  mountResourceClasses(app, parts);
  app.get(path, (c) => {
    const project = projectOf(c, "show");
    return c.json({ quota_set: { id: project, ...limits(project, c.get("minor")) } });
  });
  app.get(`${path}/defaults`, (c) => {
    const project = c.req.param("project");
    return c.json({ quota_set: { id: project, ...limits("", c.get("minor")) } });
  });
  app.get(`${path}/detail`, (c) => {
    const project = projectOf(c, "detail");
    const used: Readonly<Record<string, number>> = {
      ...usageOf(parts, project),
      server_groups: groupsOf(parts, project),
    };
    const detail = Object.entries(limits(project, c.get("minor"))).map(([field, limit]) => [
      field,
      { limit, in_use: used[field] ?? 0, reserved: 0 },
    ]);
    return c.json({ quota_set: { id: project, ...(Object.fromEntries(detail) as object) } });
  });
  app.put(path, async (c) => {
    const given = at(await bodyOf(c.req), "quota_set");
    const project = projectOf(c, "update");
    if (!isObject(given)) throw computeError(400, "'quota_set' is a required property");
    for (const field of [...oldQuotas(c.get("minor")), ...quotaFields]) {
      const limit = given[field];
      if (limit !== undefined) kernel.setQuota(project, field, Number(limit));
    }
    return c.json({ quota_set: limits(project, c.get("minor")) });
  });
  app.delete(path, (c) => {
    const project = projectOf(c, "delete");
    for (const field of [...oldQuotas(1), ...quotaFields]) kernel.setQuota(project, field, undefined);
    return c.body(null, 202);
  });
}

/** The limits of a project that has none of its own: those of the class "default", the only one. */
function mountResourceClasses(app: ComputeApp, { kernel }: ComputeParts): void {
  const path = "/v2.1/os-quota-class-sets/:name";
  const limits = (minor: number) => {
    const fields = quotaFields.filter((field) => minor >= 50 || !field.startsWith("server_group"));
    const old = oldQuotas(minor < 50 ? 1 : minor);
    return Object.fromEntries([...old, ...fields].map((field) => [field, kernel.quota(everyProject, field)]));
  };
  app.get(path, (c) => {
    requireAdmin(c.get("caller"), "os-quota-class-sets:show");
    return c.json({ quota_class_set: { id: c.req.param("name"), ...limits(c.get("minor")) } });
  });
  app.put(path, async (c) => {
    const given = at(await bodyOf(c.req), "quota_class_set");
    requireAdmin(c.get("caller"), "os-quota-class-sets:update");
    if (!isObject(given)) throw computeError(400, "'quota_class_set' is a required property");
    const known = limits(c.get("minor"));
    const unknown = Object.keys(given).find((field) => !(field in known));
    if (unknown !== undefined) {
      const why = `Additional properties are not allowed (${pythonRepr(unknown)} was unexpected)`;
      throw invalid("quota_class_set", given, why);
    }
    for (const [field, limit] of Object.entries(given)) kernel.setQuota(everyProject, field, Number(limit));
    return c.json({ quota_class_set: limits(c.get("minor")) });
  });
}

const groupsOf = ({ tables }: ComputeParts, project: string) => tables.groups.by("project_id", project).length;

function limitsOf(c: ComputeContext, parts: ComputeParts): object {
  const { projectId, isAdmin } = c.get("caller");
  const asked = c.req.query("tenant_id");
  const project = isAdmin && asked !== undefined ? asked : projectId;
  const limit = (resource: string) => parts.kernel.quota(project, resource);
  const used = usageOf(parts, project);
  const old = c.get("minor") < 36;
  return {
    maxTotalInstances: limit("instances"),
    maxTotalCores: limit("cores"),
    maxTotalRAMSize: limit("ram"),
    maxServerMeta: limit("metadata_items"),
    ...(c.get("minor") < 39 ? { maxImageMeta: limit("metadata_items") } : {}),
    ...(c.get("minor") < 57 ? { maxPersonality: 5, maxPersonalitySize: 10240 } : {}),
    maxTotalKeypairs: limit("key_pairs"),
    maxServerGroups: limit("server_groups"),
    maxServerGroupMembers: limit("server_group_members"),
    ...(old ? { maxTotalFloatingIps: -1, maxSecurityGroups: -1, maxSecurityGroupRules: -1 } : {}),
    totalRAMUsed: used.ram,
    totalCoresUsed: used.cores,
    totalInstancesUsed: used.instances,
    ...(old ? { totalFloatingIpsUsed: 0, totalSecurityGroupsUsed: 0 } : {}),
    totalServerGroupsUsed: groupsOf(parts, project),
  };
}
