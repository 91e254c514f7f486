import { MagnumQuota } from "@causeway/api";
import { isAlreadyExists, keyOf, timestamp } from "@causeway/kubernetes";
import { enforce, instant, isAdmin, type Answer, type Api, type Call } from "../call/call.ts";
import { nextLink, onlyParameters, pageOf, readPage } from "../call/page.ts";
import { conflict, forbidden, invalid, MagnumError } from "../wire/error.ts";
import { readBoolean, readFields, type Fields } from "../wire/fields.ts";

const fields: Fields = {
  id: { type: "int", readonly: true },
  hard_limit: { type: "int", min: 0 },
  project_id: { type: "text", min: 1, max: 255 },
  resource: { type: "text", oneOf: ["Cluster"] },
  created_at: { type: "text", readonly: true },
  updated_at: { type: "text", readonly: true },
};

const OBJECT = "cluster";

/** How many clusters a project may have. */
export function quotaOf(api: Api, project: string): number {
  return find(api, project, "Cluster")?.spec.hardLimit ?? api.defaultQuota;
}

function find({ store }: Api, project: string, resource: string): MagnumQuota | undefined {
  return store.quotas.list().find(({ spec }) => spec.projectID === project && spec.resource === resource);
}

const view = ({ spec, metadata }: MagnumQuota) => ({
  id: spec.id,
  hard_limit: spec.hardLimit,
  project_id: spec.projectID,
  resource: spec.resource,
  created_at: instant(metadata.creationTimestamp),
  updated_at: instant(spec.updatedAt),
});

/**
 * GET quotas: those of the caller's project; with `all_tenants` those of all projects for an administrator.
 * @throws MagnumError 400, 403, 404
 */
export async function listQuotas(api: Api, call: Call): Promise<Answer> {
  onlyParameters(call.query, ["limit", "marker", "sort_key", "sort_dir", "all_tenants"]);
  enforce(api, call, "quota:get_all");
  const page = readPage(call.query, ["all_tenants"], "number");
  const all = readBoolean("all_tenants", call.query.get("all_tenants") ?? "false");
  const isEverybody = all && isAdmin(api, call);
  const wanted = api.store.quotas.list().filter(({ spec }) => isEverybody || spec.projectID === call.caller.projectId);
  const keys = {
    hard_limit: ({ spec }: MagnumQuota) => spec.hardLimit,
    project_id: ({ spec }: MagnumQuota) => spec.projectID,
    resource: ({ spec }: MagnumQuota) => spec.resource,
    created_at: ({ metadata }: MagnumQuota) => metadata.creationTimestamp,
    updated_at: ({ spec }: MagnumQuota) => spec.updatedAt,
  };
  const items = pageOf(wanted, page, { id: ({ spec }) => spec.id, keys, what: "Quota" });
  return {
    status: 200,
    body: {
      quotas: items.map(view),
      ...nextLink(
        call.origin,
        "quotas",
        page,
        items.map(({ spec }) => spec.id),
      ),
    },
  };
}

/** GET quotas/PROJECT/Cluster: the default limit for a project without a quota of its own. @throws MagnumError 403 */
export async function showQuota(api: Api, call: Call): Promise<Answer> {
  enforce(api, call, "quota:get");
  const { project = "", resource = "" } = call.names;
  if (!isAdmin(api, call) && project !== call.caller.projectId) throw forbidden();
  const quota = find(api, project, resource);
  const body = quota ? view(quota) : { hard_limit: api.defaultQuota, project_id: project, resource: "Cluster" };
  return { status: 200, body };
}

/**
 * POST quotas: hard_limit is 1 without a value, as Magnum's. A project has to exist, as far as the caller may read it.
 * @throws MagnumError 400, 403, 404, 409
 */
export async function createQuota(api: Api, call: Call): Promise<Answer> {
  const values = readFields(call.body, fields, "quota");
  enforce(api, call, "quota:create");
  const { project_id: project, hard_limit: limit = 1, resource = "Cluster" } = values;
  if (typeof project !== "string") throw invalid("Must provide a valid project ID.");
  if (!(await api.cloud.hasProject(call.caller.token, project, call.signal)))
    throw new MagnumError(404, `The project_id ${project} could not be found.`);
  const made = await api.inTurn("quotas", async () => {
    const id = Math.max(0, ...api.store.quotas.list().map(({ spec }) => spec.id)) + 1;
    const quota: MagnumQuota = {
      apiVersion: "magnum.causeway.dev/v1alpha1",
      kind: "MagnumQuota",
      metadata: { name: OBJECT },
      spec: { id, projectID: project, resource: resource as "Cluster", hardLimit: limit as number },
    };
    try {
      return await api.store.create(MagnumQuota, quota, project, call.signal);
    } catch (error) {
      if (isAlreadyExists(error))
        throw conflict(`Quota for project ${project} already exists for resource ${String(resource)}.`);
      throw error;
    }
  });
  return { status: 201, body: view(made) };
}

const missing = (project: string, resource: string) =>
  new MagnumError(404, `Quota could not be found: project_id ${project} resource ${resource}.`);

/** PATCH quotas/PROJECT/Cluster: another hard_limit; clusters above it remain. @throws MagnumError 400, 403, 404 */
export async function patchQuota(api: Api, call: Call): Promise<Answer> {
  const values = readFields(call.body, fields, "quotapatch");
  enforce(api, call, "quota:update");
  const { project = "", resource = "" } = call.names;
  const quota = find(api, project, resource);
  if (!quota) throw missing(project, resource);
  const limit = (values["hard_limit"] as number | undefined) ?? 1;
  const updatedAt = timestamp(api.clock.now());
  const changed = await api.store.change(
    MagnumQuota,
    keyOf(quota),
    (current) => ({ ...current, spec: { ...current.spec, hardLimit: limit, updatedAt } }),
    call.signal,
  );
  return { status: 202, body: view(changed) };
}

/** DELETE quotas/PROJECT/Cluster: the default limit applies again. @throws MagnumError 403, 404 */
export async function deleteQuota(api: Api, call: Call): Promise<Answer> {
  enforce(api, call, "quota:delete");
  const { project = "", resource = "" } = call.names;
  const quota = find(api, project, resource);
  if (!quota) throw missing(project, resource);
  await api.store.remove(api.store.quotas, quota, call.signal);
  return { status: 204 };
}
