import type { Service, Table } from "../../kernel/interface.ts";
import { magnumError, type HeatCluster } from "../model.ts";
import { own } from "../kit/request.ts";

/** The templates of the caller's clusters. */
export function mountClusterTemplates(app: Service["app"], clusters: Table<HeatCluster>): void {
  app.get("/v1/clustertemplates/:id", (c) => {
    const id = c.req.param("id");
    const found = own(clusters, c).find(({ template }) => template["uuid"] === id || template["name"] === id);
    if (!found) throw magnumError(404, `ClusterTemplate ${id} could not be found.`);
    return c.json(found.template);
  });
}
