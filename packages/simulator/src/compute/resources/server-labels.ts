import { at, bodyOf } from "../../kernel/json.ts";
import { mountKeyValues } from "../../kernel/rest/key-values.ts";
import { checkTag, metadataOf, tagsOf } from "../rules/create-request.ts";
import type { Lifecycle } from "../rules/lifecycle.ts";
import {
  computeError,
  notInThisVersion,
  type ComputeApp,
  type ComputeEnv,
  type ComputeParts,
  type Server,
} from "../model.ts";
import { serverOf } from "./servers.ts";
import { addressesOf, rootOf, type ComputeContext } from "../views.ts";

/** Tags (from 2.26), metadata and addresses of a server. */
export function mountLabels(app: ComputeApp, parts: ComputeParts, lifecycle: Lifecycle): void {
  mountTags(app, parts, lifecycle);
  mountMetadata(app, parts, lifecycle);
  app.get("/v2.1/servers/:id/ips", (c) => c.json({ addresses: addressesOf(parts, serverOf(c, parts), true) }));
  app.get("/v2.1/servers/:id/ips/:network", (c) => {
    const label = c.req.param("network");
    const addresses = addressesOf(parts, serverOf(c, parts), true)[label];
    if (addresses === undefined) throw computeError(404, `Network ${label} not found`);
    return c.json({ [label]: addresses });
  });
}

function mountTags(app: ComputeApp, parts: ComputeParts, lifecycle: Lifecycle): void {
  const path = "/v2.1/servers/:id/tags";
  const tagged = (c: ComputeContext) => {
    if (c.get("minor") < 26) throw notInThisVersion();
    return serverOf(c, parts);
  };
  app.get(path, (c) => c.json({ tags: tagged(c).tags }));
  app.put(path, async (c) => {
    const tags = tagsOf(at(await bodyOf(c.req), "tags"));
    lifecycle.touch(tagged(c).id, { tags });
    return c.json({ tags });
  });
  app.delete(path, (c) => {
    lifecycle.touch(tagged(c).id, { tags: [] });
    return c.body(null, 204);
  });
  app.get(`${path}/:tag`, (c) => {
    const server = tagged(c);
    const tag = c.req.param("tag");
    if (!server.tags.includes(tag)) throw computeError(404, `Server ${server.id} has no tag '${tag}'`);
    return c.body(null, 204);
  });
  app.put(`${path}/:tag`, (c) => {
    const server = tagged(c);
    const tag = checkTag(c.req.param("tag"), "tag");
    const location = `${rootOf(c)}/v2.1/servers/${server.id}/tags/${tag}`;
    if (server.tags.includes(tag)) return c.body(null, 204);
    if (server.tags.length >= 50) {
      throw computeError(400, `The number of tags exceeded the per-server limit 50`);
    }
    lifecycle.touch(server.id, { tags: [...server.tags, tag].sort() });
    return c.body(null, 201, { location });
  });
  app.delete(`${path}/:tag`, (c) => {
    const server = tagged(c);
    const tag = c.req.param("tag");
    if (!server.tags.includes(tag)) throw computeError(404, `Instance ${server.id} has no tag '${tag}'`);
    lifecycle.touch(server.id, { tags: server.tags.filter((other) => other !== tag) });
    return c.body(null, 204);
  });
}

function mountMetadata(app: ComputeApp, parts: ComputeParts, lifecycle: Lifecycle): void {
  mountKeyValues<ComputeEnv, Server>(app, {
    path: "/v2.1/servers/:id/metadata",
    many: "metadata",
    one: "meta",
    given: (_c, body, verb) => metadataOf(at(body, verb === "set" ? "meta" : "metadata")),
    find: (c) => serverOf(c, parts),
    pairsOf: ({ metadata }) => metadata,
    keep(c, { id }, metadata) {
      const limit = parts.kernel.quota(c.get("caller").projectId, "metadata_items");
      if (limit >= 0 && Object.keys(metadata).length > limit) {
        throw computeError(403, `Maximum number of metadata items exceeds ${limit}`);
      }
      lifecycle.touch(id, { metadata });
    },
    unknownKey: () => computeError(404, "Metadata item was not found"),
  });
}
