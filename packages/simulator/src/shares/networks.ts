import { computeError } from "../compute/model.ts";
import { at, bodyOf, isObject, textAt } from "../kernel/json.ts";
import { instantOf, owned, pageOf, unprocessable, type ShareApp, type ShareContext, type ShareParts } from "./model.ts";
import { checkShareQuota } from "./quotas.ts";
import { shareNetworkView } from "./views.ts";

/** Share networks: where share servers would stand. They are kept; the one type here has no servers. */
export function addShareNetworkRoutes(app: ShareApp, parts: ShareParts): void {
  const { kernel, networks } = parts;
  const found = (c: ShareContext) => {
    const id = c.req.param("id") ?? "";
    return owned(c, networks.get(id), () => computeError(404, `Share network ${id} could not be found.`));
  };
  const listed = (c: ShareContext) => {
    return pageOf(c, networks.by("project_id", c.get("caller").projectId), [
      "name",
      "neutron_net_id",
      "neutron_subnet_id",
    ]);
  };
  app.get("/v2/share-networks", (c) => c.json({ share_networks: listed(c).map(({ id, name }) => ({ id, name })) }));
  app.get("/v2/share-networks/detail", (c) => c.json({ share_networks: listed(c).map((n) => shareNetworkView(c, n)) }));
  app.get("/v2/share-networks/:id", (c) => c.json({ share_network: shareNetworkView(c, found(c)) }));
  app.post("/v2/share-networks", async (c) => {
    const given = at(await bodyOf(c.req), "share_network");
    if (!isObject(given)) throw unprocessable();
    const { projectId } = c.get("caller");
    checkShareQuota(parts, projectId, { share_networks: 1 });
    const network = networks.insert({
      id: kernel.newId(),
      name: textAt(given, "name") ?? null,
      description: textAt(given, "description") ?? null,
      project_id: projectId,
      neutron_net_id: textAt(given, "neutron_net_id") ?? null,
      neutron_subnet_id: textAt(given, "neutron_subnet_id") ?? null,
      subnet_id: kernel.newId(),
      created_at: instantOf(kernel),
    });
    return c.json({ share_network: shareNetworkView(c, network) });
  });
  app.put("/v2/share-networks/:id", async (c) => {
    const given = at(await bodyOf(c.req), "share_network");
    const { id, name, description } = found(c);
    if (!isObject(given)) throw unprocessable();
    const changed = { name: textAt(given, "name") ?? name, description: textAt(given, "description") ?? description };
    return c.json({ share_network: shareNetworkView(c, networks.update(id, changed)) });
  });
  app.delete("/v2/share-networks/:id", (c) => {
    const { id } = found(c);
    if (parts.shares.all().some((share) => share.share_network_id === id)) {
      throw computeError(409, `Can not delete share network ${id}, it has 1 share(s).`);
    }
    networks.remove(id);
    return c.body(null, 202);
  });
}
