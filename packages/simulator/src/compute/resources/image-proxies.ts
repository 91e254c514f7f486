import { at } from "../../kernel/json.ts";
import { mountKeyValues } from "../../kernel/rest/key-values.ts";
import type { Image } from "../../image/model.ts";
import { imageVisible } from "../../image/model.ts";
import { metadataOf } from "../rules/create-request.ts";
import { page } from "../listing.ts";
import { asked, callerUntil } from "../kit/old-proxy.ts";
import { computeError, type ComputeApp, type ComputeEnv, type ComputeParts } from "../model.ts";
import { linksOf, nextLink, rootOf, type ComputeContext } from "../views.ts";

/** Nova's proxies of Glance's images before 2.36, and of their metadata before 2.39. */
export function mountImageProxies(app: ComputeApp, parts: ComputeParts): void {
  const list = (c: ComputeContext, view: (c: ComputeContext, image: Image) => object) => {
    const { projectId, isAdmin } = callerUntil(c);
    const query = new URL(c.req.url).searchParams;
    const tests = testsOf(query);
    const seen = parts.tables.images.all().filter((image) => imageVisible(image, projectId, isAdmin));
    const { servers: images, more } = page(
      seen.toReversed().filter((image) => tests.every((test) => test(image))),
      query,
    );
    const last = images.at(-1);
    const next = more && last ? { images_links: [{ rel: "next", href: nextLink(c, last.id) }] } : {};
    return c.json({ images: images.map((image) => view(c, image)), ...next });
  };
  app.get("/v2.1/images", (c) => list(c, briefView));
  app.get("/v2.1/images/detail", (c) => list(c, imageView));
  app.get("/v2.1/images/:id", (c) => {
    callerUntil(c);
    return c.json({ image: imageView(c, imageOf(c, parts)) });
  });
  app.delete("/v2.1/images/:id", async (c) => {
    const caller = callerUntil(c);
    const refusals = {
      403: [403, "You are not allowed to delete the image."],
      404: [404, "Image not found."],
    } as const;
    const path = `/v2/images/${encodeURIComponent(c.req.param("id"))}`;
    await asked(parts, { service: "image", caller, method: "DELETE", path, refusals });
    return c.body(null, 204);
  });
  mountMetadata(app, parts);
}

function imageOf(c: ComputeContext, { tables }: ComputeParts): Image {
  const { projectId, isAdmin } = c.get("caller");
  const image = tables.images.get(c.req.param("id") ?? "");
  if (image && imageVisible(image, projectId, isAdmin)) return image;
  throw computeError(404, "Image not found.");
}

const metadataGoneAt = 39;

function mountMetadata(app: ComputeApp, parts: ComputeParts): void {
  mountKeyValues<ComputeEnv, Image>(app, {
    path: "/v2.1/images/:id/metadata",
    many: "metadata",
    one: "meta",
    given(c, body, verb) {
      if (verb !== "set") return metadataOf(at(body, "metadata"));
      if (at(body, "meta", c.req.param("key") ?? "") === undefined) {
        throw computeError(400, "Request body and URI mismatch");
      }
      return metadataOf(at(body, "meta"));
    },
    find(c) {
      callerUntil(c, metadataGoneAt);
      return imageOf(c, parts);
    },
    pairsOf: ({ properties }) => properties,
    keep(c, image, metadata) {
      const { projectId, isAdmin } = c.get("caller");
      if (image.owner !== projectId && !isAdmin) throw computeError(403, "You are not allowed to change the image.");
      const limit = parts.kernel.quota(projectId, "metadata_items");
      if (limit >= 0 && Object.keys(metadata).length > limit) throw computeError(403, "Image metadata limit exceeded");
      parts.tables.images.update(image.id, { properties: metadata, updated_at: parts.kernel.timestamp() });
    },
    unknownKey: (_c, _image, verb) =>
      computeError(404, verb === "show" ? "Metadata item was not found" : "Invalid metadata key"),
  });
}

const states: Readonly<Record<string, readonly [status: string, progress: number]>> = {
  queued: ["SAVING", 25],
  saving: ["SAVING", 50],
  active: ["ACTIVE", 100],
  killed: ["ERROR", 0],
  deleted: ["DELETED", 0],
  pending_delete: ["DELETED", 0],
};
const stateOf = ({ status }: Image) => states[status] ?? (["UNKNOWN", 0] as const);

function briefView(c: ComputeContext, { id, name }: Image) {
  const alternate = `${new URL(rootOf(c)).origin}/image/images/${id}`;
  const links = [
    ...linksOf(c, "images", id),
    { rel: "alternate", type: "application/vnd.openstack.image", href: alternate },
  ];
  return { id, name, links };
}

function imageView(c: ComputeContext, image: Image): object {
  const [status, progress] = stateOf(image);
  const server = image.properties["instance_uuid"];
  const disk = image.properties["auto_disk_config"];
  return {
    ...briefView(c, image),
    minRam: image.min_ram,
    minDisk: image.min_disk,
    metadata: image.properties,
    created: image.created_at,
    updated: image.updated_at,
    status,
    progress,
    "OS-EXT-IMG-SIZE:size": image.size,
    ...(server === undefined ? {} : { server: { id: server, links: linksOf(c, "servers", server) } }),
    ...(disk === undefined ? {} : { "OS-DCF:diskConfig": /^true$/i.test(disk) ? "AUTO" : "MANUAL" }),
  };
}

type Test = (image: Image) => boolean;

function testsOf(query: URLSearchParams): readonly Test[] {
  const tests: Test[] = [];
  const add = (parameter: string, test: (value: string) => Test) => {
    const value = query.get(parameter);
    if (value !== null) tests.push(test(value));
  };
  add(
    "name",
    (value) =>
      ({ name }) =>
        name === value,
  );
  add("status", (value) => (image) => stateOf(image)[0] === value.toUpperCase());
  add(
    "server",
    (value) =>
      ({ properties }) =>
        properties["instance_uuid"] === value.slice(value.lastIndexOf("/") + 1),
  );
  add(
    "type",
    (value) =>
      ({ properties }) =>
        properties["image_type"] === value,
  );
  add("changes-since", (value) => {
    const since = Date.parse(/(Z|[+-]\d\d:?\d\d)$/i.test(value) ? value : `${value}Z`);
    return ({ updated_at }) => Date.parse(updated_at) >= since;
  });
  add(
    "minRam",
    (value) =>
      ({ min_ram }) =>
        min_ram >= Number(value),
  );
  add(
    "minDisk",
    (value) =>
      ({ min_disk }) =>
        min_disk >= Number(value),
  );
  return tests;
}
