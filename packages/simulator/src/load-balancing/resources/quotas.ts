import { isObject } from "../../kernel/json.ts";
import { shown } from "../../network/kit/attributes.ts";
import { denied, fault, invalidField } from "../errors.ts";
import { integer } from "../kit/fields.ts";
import type { BalancerState } from "../model.ts";
import { checkAdmin, readBody, type BalancerApp } from "../kit/routes.ts";

const resources = ["load_balancer", "listener", "member", "pool", "health_monitor", "l7policy", "l7rule"] as const;

/** Routes below /quotas: limits of a project, changed by administrators. */
export function mountQuotas(app: BalancerApp, state: BalancerState): void {
  const { kernel } = state;
  const limits = (projectId: string) => Object.fromEntries(resources.map((r) => [r, kernel.quota(projectId, r)]));
  app.get("/:v{v2(?:\\.0)?}/lbaas/quotas", (c) => {
    const set = kernel.ownQuotas().filter(({ limits: own }) => resources.some((r) => own[r] !== undefined));
    const mine = set.filter(({ id }) => c.var.caller.isAdmin || id === c.var.caller.projectId);
    const query = new URL(c.req.url).searchParams;
    if (query.has("tenant_id")) throw fault(400, "One or more arguments are either duplicate or invalid");
    const quotas = mine
      .map(({ id, limits: own }): Readonly<Record<string, string | number | null>> => ownQuota(id, own))
      .filter((quota) =>
        [...query].every(([name, value]) => !Object.hasOwn(quota, name) || String(quota[name]) === value),
      );
    return c.json({ quotas, quotas_links: [] });
  });
  app.get("/:v{v2(?:\\.0)?}/lbaas/quotas/defaults", (c) => {
    checkAdmin(c.var.caller);
    return c.json({ quota: limits("") });
  });
  app.get("/:v{v2(?:\\.0)?}/lbaas/quotas/:project", (c) => {
    const project = c.req.param("project");
    if (!c.var.caller.isAdmin && c.var.caller.projectId !== project) throw denied();
    return c.json({ quota: limits(project) });
  });
  app.put("/:v{v2(?:\\.0)?}/lbaas/quotas/:project", async (c) => {
    checkAdmin(c.var.caller);
    const project = c.req.param("project");
    const changes = readLimits((await readBody(c))["quota"]);
    kernel.atomic(() => {
      for (const [resource, limit] of changes) kernel.setQuota(project, resource, limit);
    });
    return c.json({ quota: limits(project) }, 202);
  });
  app.delete("/:v{v2(?:\\.0)?}/lbaas/quotas/:project", (c) => {
    checkAdmin(c.var.caller);
    kernel.atomic(() => {
      for (const resource of resources) kernel.setQuota(c.req.param("project"), resource, undefined);
    });
    return c.body(null, 204);
  });
}

/** What is set of a project, under Octavia's new names and those of old; null where nothing is. */
const ownQuota = (id: string, own: Readonly<Record<string, number>>) => ({
  project_id: id,
  tenant_id: id,
  ...Object.fromEntries(resources.map((resource) => [resource, own[resource] ?? null])),
  loadbalancer: own["load_balancer"] ?? null,
  healthmonitor: own["health_monitor"] ?? null,
});

/** Names of before 2.3. */
const aliases: Readonly<Record<string, string>> = { loadbalancer: "load_balancer", healthmonitor: "health_monitor" };

function readLimits(value: unknown): readonly [string, number | undefined][] {
  if (!isObject(value)) throw invalidField("quota", shown(value), "Value should be a dictionary");
  const known: readonly string[] = resources;
  return Object.entries(value).map(([named, limit]) => {
    const resource = aliases[named] ?? named;
    if (!known.includes(resource)) throw fault(400, `Unknown attribute for argument quotas.quota: ${named}`);
    // Null gives the limit back to the default.
    return [resource, limit === null ? undefined : integer(-1, 2_147_483_647)(limit, resource)];
  });
}
