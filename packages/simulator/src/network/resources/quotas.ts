import { isObject, type JsonObject } from "../../kernel/json.ts";
import { shown } from "../kit/attributes.ts";
import { readBody, type NetworkApp } from "../kit/collection.ts";
import { badRequest, forbidden, invalidInput, invalidValue } from "../errors.ts";
import type { Caller } from "../../kernel/interface.ts";
import type { NetworkState } from "../model.ts";

const resources = [
  "network",
  "subnet",
  "subnetpool",
  "port",
  "router",
  "floatingip",
  "rbac_policy",
  "security_group",
  "security_group_rule",
  "trunk",
] as const;

/** Routes below /quotas: limits, use, defaults; changes by administrators. */
export function mountQuotas(app: NetworkApp, state: NetworkState): void {
  const { kernel } = state;
  const limits = (projectId: string) => Object.fromEntries(resources.map((r) => [r, kernel.quota(projectId, r)]));
  app.get("/v2.0/quotas", (c) => {
    if (!c.var.caller.isAdmin) throw forbidden("rule:get_quota");
    const own = kernel.ownQuotas().filter(({ limits: set }) => resources.some((name) => set[name] !== undefined));
    const quotas = own.map(({ id }) => ({ ...limits(id), tenant_id: id, project_id: id }));
    return c.json({ quotas });
  });
  app.get("/v2.0/quotas/:project", (c) => {
    permit(c.var.caller, c.req.param("project"));
    return c.json({ quota: limits(c.req.param("project")) });
  });
  // No project has this name, so its limits are the defaults.
  app.get("/v2.0/quotas/:project/default", (c) => c.json({ quota: limits("") }));
  for (const path of ["details", "details.json"]) {
    app.get(`/v2.0/quotas/:project/${path}`, (c) => {
      const project = c.req.param("project");
      permit(c.var.caller, project);
      const used = usage(state, project);
      const quota = Object.entries(limits(project)).map(([r, limit]) => [
        r,
        { limit, used: used[r] ?? 0, reserved: 0 },
      ]);
      return c.json({ quota: Object.fromEntries(quota) as JsonObject });
    });
  }
  app.put("/v2.0/quotas/:project", async (c) => {
    if (!c.var.caller.isAdmin) throw forbidden("rule:update_quota");
    const project = c.req.param("project");
    const changes = readLimits((await readBody(c))["quota"]);
    kernel.atomic(() => {
      for (const [resource, limit] of changes) kernel.setQuota(project, resource, limit);
    });
    return c.json({ quota: limits(project) });
  });
  app.delete("/v2.0/quotas/:project", (c) => {
    if (!c.var.caller.isAdmin) throw forbidden("rule:delete_quota");
    kernel.atomic(() => {
      for (const resource of resources) kernel.setQuota(c.req.param("project"), resource, undefined);
    });
    return c.body(null, 204);
  });
}

function permit(caller: Caller, project: string): void {
  if (!caller.isAdmin && caller.projectId !== project) throw forbidden("rule:get_quota");
}

function usage(state: NetworkState, project: string): Readonly<Record<string, number>> {
  const tables = {
    network: state.networks,
    subnet: state.subnets,
    port: state.ports,
    router: state.routers,
    floatingip: state.floatingIps,
    security_group: state.groups,
    security_group_rule: state.rules,
    trunk: state.trunks,
  };
  return Object.fromEntries(Object.entries(tables).map(([r, table]) => [r, table.by("project_id", project).length]));
}

function readLimits(value: unknown): readonly [string, number][] {
  if (!isObject(value)) throw badRequest("Unable to find 'quota' in request body");
  const known: readonly string[] = resources;
  return Object.entries(value).map(([resource, limit]) => {
    if (!known.includes(resource)) throw badRequest(`Unrecognized attribute(s) '${resource}'`);
    const number = typeof limit === "string" && /^-?\d+$/.test(limit) ? Number(limit) : limit;
    if (typeof number !== "number" || !Number.isInteger(number))
      throw invalidInput(`'${shown(limit)}' is not an integer.`);
    if (number < -1) throw invalidValue(resource, `'${number}' is too small - must be at least '-1'.`);
    return [resource, number];
  });
}
