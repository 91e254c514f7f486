import type { Service, Table } from "../../kernel/interface.ts";
import { bodyOf } from "../../kernel/json.ts";
import { magnumError, type HeatCluster } from "../model.ts";
import { find, own } from "../kit/request.ts";

/** Clusters are read; a change is refused, by policy or since it is not simulated. */
export function mountClusters(app: Service["app"], clusters: Table<HeatCluster>): void {
  for (const path of ["/v1/clusters", "/v1/clusters/detail"])
    app.get(path, (c) => c.json({ clusters: own(clusters, c).map(({ cluster }) => cluster) }));
  app.get("/v1/clusters/:id", (c) => c.json(find(clusters, c, c.req.param("id")).cluster));
  app.patch("/v1/clusters/:id", async (c) => {
    permit(find(clusters, c, c.req.param("id")), "cluster:update");
    const patch = await bodyOf(c.req);
    throw magnumError(
      400,
      `Couldn't apply patch '${JSON.stringify(patch)}'. Reason: the simulated Magnum changes no cluster`,
    );
  });
  app.delete("/v1/clusters/:id", (c) => {
    permit(find(clusters, c, c.req.param("id")), "cluster:delete");
    throw magnumError(400, "The simulated Magnum deletes no cluster");
  });
  for (const action of ["resize", "upgrade"])
    app.post(`/v1/clusters/:id/actions/${action}`, (c) => {
      permit(find(clusters, c, c.req.param("id")), `cluster:${action}`);
      throw magnumError(400, `The simulated Magnum does not ${action} a cluster`);
    });
}

function permit({ isDenied }: HeatCluster, rule: string): void {
  if (isDenied) throw magnumError(403, `Policy doesn't allow ${rule} to be performed.`);
}
