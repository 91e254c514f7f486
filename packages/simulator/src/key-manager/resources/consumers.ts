import type { Service } from "../../kernel/interface.ts";
import { bodyOf, textAt } from "../../kernel/json.ts";
import { containerView } from "./containers.ts";
import { instantOf, keyError, owned, readable, type Consumer, type KeyParts } from "../model.ts";
import { keyRoot, pageOf } from "../listing.ts";

const path = "/v1/containers/:id/consumers";

/** Who uses a container: Octavia says so, and unsays it. Saying it twice is saying it once. */
export function mountConsumers(app: Service["app"], { kernel, tables }: KeyParts): void {
  const { containers, consumers } = tables;
  const view = ({ name, URL, created }: Consumer) => ({ name, URL, created, updated: created, status: "ACTIVE" });
  const read = async (request: { text(): Promise<string> }) => {
    const body = await bodyOf(request);
    const [name, URL] = [textAt(body, "name"), textAt(body, "URL")];
    if (name === undefined || URL === undefined) {
      throw keyError(400, "Bad Request", "Provided object does not match schema 'Consumer'");
    }
    return { name, URL };
  };
  app.get(path, (c) => {
    const { id } = readable(containers.get(c.req.param("id")), c.get("caller"), {
      what: "Container",
      doing: "ContainerConsumers(s) retrieval",
    });
    return pageOf(c, "consumers", consumers.by("of", id), view);
  });
  app.on("POST", [path, `${path}/`], async (c) => {
    const container = readable(containers.get(c.req.param("id")), c.get("caller"), {
      what: "Container",
      doing: "ContainerConsumer creation",
    });
    const { name, URL } = await read(c.req);
    const id = `${container.id}/${name}/${URL}`;
    const { projectId } = c.get("caller");
    if (!consumers.get(id)) {
      consumers.insert({ id, of: container.id, project_id: projectId, name, URL, created: instantOf(kernel) });
    }
    const location = `${keyRoot(c)}/consumers/${container.id}/consumers`;
    return c.json(containerView(c, container, consumers.by("of", container.id)), 200, { location });
  });
  app.delete(path, async (c) => {
    const container = owned(containers.get(c.req.param("id")), c.get("caller"), {
      what: "Container",
      doing: "ContainerConsumer deletion",
    });
    const { name, URL } = await read(c.req);
    const id = `${container.id}/${name}/${URL}`;
    if (!consumers.get(id)) {
      throw keyError(404, "Not Found", "Not Found. Sorry but your consumer is in another castle.");
    }
    consumers.remove(id);
    return c.json(containerView(c, container, consumers.by("of", container.id)));
  });
}
