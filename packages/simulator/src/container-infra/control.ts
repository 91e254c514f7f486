import { Hono } from "hono";
import type { Kernel } from "../kernel/interface.ts";
import { at, bodyOf, isObject, textAt, type JsonObject } from "../kernel/json.ts";
import { heatClusters, magnumError, type HeatCluster } from "./model.ts";

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
