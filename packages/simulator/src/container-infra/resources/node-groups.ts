import type { Service, Table } from "../../kernel/interface.ts";
import { magnumError, type HeatCluster } from "../model.ts";
import { find } from "../kit/request.ts";

/** The node groups of a cluster. */
export function mountNodeGroups(app: Service["app"], clusters: Table<HeatCluster>): void {
  app.get("/v1/clusters/:id/nodegroups", (c) =>
    c.json({ nodegroups: find(clusters, c, c.req.param("id")).nodegroups }),
  );
  app.get("/v1/clusters/:id/nodegroups/:group", (c) => {
    const group = c.req.param("group");
    const found = find(clusters, c, c.req.param("id")).nodegroups.find(
      (one) => one["uuid"] === group || one["name"] === group,
    );
    if (!found) throw magnumError(404, `Nodegroup ${group} could not be found.`);
    return c.json(found);
  });
}
