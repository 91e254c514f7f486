import { Hono, type Context } from "hono";
import { signRequest } from "@causeway/foundation";
import type { Caller, Kernel, Service } from "../kernel/interface.ts";
import { at, bodyOf, isObject, textAt, type JsonObject } from "../kernel/json.ts";
import { heatClusters, magnumError, type HeatCluster } from "./model.ts";

type MagnumContext = Context<{ Variables: { caller: Caller } }>;

const YEARS = 5 * 365 * 86_400_000;

/**
 * Magnum with its Heat driver, as far as a migration touches it: clusters, templates and node groups are read,
 * certificates are signed by a cluster's authorities, and changes are refused, by policy (403) or since they are not
 * simulated (400).
 */
export function createContainerInfraService(kernel: Kernel): Service {
  const clusters = heatClusters(kernel);
  const app: Service["app"] = new Hono();
  const own = (c: MagnumContext): readonly HeatCluster[] => {
    const { isAdmin, projectId } = c.get("caller");
    return isAdmin ? clusters.all() : clusters.by("project_id", projectId);
  };
  const find = (c: MagnumContext, ident: string): HeatCluster => {
    const found = own(c).filter(({ id, name }) => id === ident || name === ident);
    if (found.length > 1)
      throw magnumError(409, `Multiple clusters exist with same name: ${ident}. Please use the cluster uuid instead.`);
    if (!found[0]) throw magnumError(404, `Cluster ${ident} could not be found.`);
    return found[0];
  };
  app.get("/v1", (c) => c.json({ id: "v1", media_types: [] }));
  for (const path of ["/v1/clusters", "/v1/clusters/detail"])
    app.get(path, (c) => c.json({ clusters: own(c).map(({ cluster }) => cluster) }));
  app.get("/v1/clusters/:id", (c) => c.json(find(c, c.req.param("id")).cluster));
  app.patch("/v1/clusters/:id", async (c) => {
    permit(find(c, c.req.param("id")), "cluster:update");
    const patch = await bodyOf(c.req);
    throw magnumError(
      400,
      `Couldn't apply patch '${JSON.stringify(patch)}'. Reason: the simulated Magnum changes no cluster`,
    );
  });
  app.delete("/v1/clusters/:id", (c) => {
    permit(find(c, c.req.param("id")), "cluster:delete");
    throw magnumError(400, "The simulated Magnum deletes no cluster");
  });
  for (const action of ["resize", "upgrade"])
    app.post(`/v1/clusters/:id/actions/${action}`, (c) => {
      permit(find(c, c.req.param("id")), `cluster:${action}`);
      throw magnumError(400, `The simulated Magnum does not ${action} a cluster`);
    });
  app.get("/v1/clusters/:id/nodegroups", (c) => c.json({ nodegroups: find(c, c.req.param("id")).nodegroups }));
  app.get("/v1/clusters/:id/nodegroups/:group", (c) => {
    const group = c.req.param("group");
    const found = find(c, c.req.param("id")).nodegroups.find((one) => one["uuid"] === group || one["name"] === group);
    if (!found) throw magnumError(404, `Nodegroup ${group} could not be found.`);
    return c.json(found);
  });
  app.get("/v1/clustertemplates/:id", (c) => {
    const id = c.req.param("id");
    const found = own(c).find(({ template }) => template["uuid"] === id || template["name"] === id);
    if (!found) throw magnumError(404, `ClusterTemplate ${id} could not be found.`);
    return c.json(found.template);
  });
  app.get("/v1/certificates/:id", (c) => {
    const cluster = find(c, c.req.param("id"));
    const { certificate } = authorityOf(cluster, c.req.query("ca_cert_type"));
    return c.json({ cluster_uuid: cluster.id, pem: certificate, links: [] });
  });
  app.post("/v1/certificates", async (c) => {
    const body = await bodyOf(c.req);
    const [ident = "", csr = ""] = [textAt(body, "cluster_uuid"), textAt(body, "csr")];
    const cluster = find(c, ident);
    const options = { usages: ["client", "server"] as const, lifetime: YEARS, now: kernel.clock.now() };
    const pem = await signRequest(authorityOf(cluster, textAt(body, "ca_cert_type")), csr, options).catch(
      () => undefined,
    );
    if (pem === undefined) throw magnumError(400, "Received invalid csr.");
    return c.json({ cluster_uuid: cluster.id, csr, pem, links: [] }, 201);
  });
  app.all("*", () => {
    throw magnumError(404, "The resource could not be found.");
  });
  return { type: "container-infra", name: "magnum", catalogPath: "/v1", app };
}

function permit({ isDenied }: HeatCluster, rule: string): void {
  if (isDenied) throw magnumError(403, `Policy doesn't allow ${rule} to be performed.`);
}

function authorityOf({ authorities }: HeatCluster, type: string | undefined) {
  if (type === "etcd") return authorities.etcd;
  return type === "front-proxy" || type === "front_proxy" ? authorities.frontProxy : authorities.kubernetes;
}

/** Puts the row of a cluster into the simulated Magnum's database, and rules into its policy. */
export function magnumControl(kernel: Kernel): Hono {
  const clusters = heatClusters(kernel);
  const app = new Hono();
  app.post("/clusters", async (c) => {
    const given = await bodyOf(c.req);
    const cluster = at(given, "cluster");
    const [id, name, project_id] = [textAt(cluster, "uuid"), textAt(cluster, "name"), textAt(cluster, "project_id")];
    const groups = at(given, "nodegroups");
    if (id === undefined || name === undefined || project_id === undefined || !Array.isArray(groups))
      throw magnumError(400, "Send cluster (with uuid, name and project_id), template, nodegroups and authorities.");
    const row = {
      id,
      name,
      project_id,
      cluster,
      template: at(given, "template"),
      nodegroups: groups,
      authorities: at(given, "authorities"),
      isDenied: false,
    };
    clusters.insert(row as HeatCluster);
    return c.json({ id }, 201);
  });
  app.post("/policy", async (c) => {
    const denied = at(await bodyOf(c.req), "denied");
    const ids: readonly unknown[] = Array.isArray(denied) ? denied : [];
    for (const { id } of clusters.all()) clusters.update(id, { isDenied: ids.includes(id) });
    return c.json({ denied: ids });
  });
  app.delete("/clusters/:id", (c) => {
    clusters.remove(c.req.param("id"));
    return c.body(null, 204);
  });
  app.post("/clusters/:id", async (c) => {
    const [row, change] = [clusters.get(c.req.param("id")), await bodyOf(c.req)];
    if (!row || !isObject(change)) throw magnumError(404, "There is no such cluster.");
    const cluster: JsonObject = { ...row.cluster, ...change };
    clusters.update(row.id, { cluster });
    return c.json({ cluster });
  });
  return app;
}
