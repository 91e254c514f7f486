import { computeError } from "../compute/model.ts";
import { at, bodyOf, isObject } from "../kernel/json.ts";
import { instantOf, snapshotFor, volumeFor, type StorageApp, type StorageParts } from "./model.ts";
import type { StorageContext } from "./views.ts";
import { labels } from "./volumes.ts";

type Labels = Readonly<Record<string, string>>;

interface Bearer {
  /** "volumes" or "snapshots" */
  readonly path: string;
  /** "Volume" or "Snapshot" */
  readonly word: string;
  readonly of: (c: StorageContext) => Labels;
  readonly keep: (c: StorageContext, metadata: Labels) => void;
}

/** Metadata of volumes and of snapshots, all together and one by one. POST adds, PUT replaces. */
export function addMetadataRoutes(app: StorageApp, { kernel, tables }: StorageParts): void {
  const idOf = (c: StorageContext) => c.req.param("id") ?? "";
  const changed = (metadata: Labels) => ({ metadata, updated_at: instantOf(kernel) });
  addBearer(app, {
    path: "volumes",
    word: "Volume",
    of: (c) => volumeFor(tables, c.get("caller"), idOf(c)).metadata,
    keep: (c, metadata) => void tables.volumes.update(idOf(c), changed(metadata)),
  });
  addBearer(app, {
    path: "snapshots",
    word: "Snapshot",
    of: (c) => snapshotFor(tables, c.get("caller"), idOf(c)).metadata,
    keep: (c, metadata) => void tables.snapshots.update(idOf(c), changed(metadata)),
  });
}

function addBearer(app: StorageApp, bearer: Bearer): void {
  const path = `/v3/:project/${bearer.path}/:id/metadata`;
  const item = (c: StorageContext): string => {
    const [id, key] = [c.req.param("id") ?? "", c.req.param("key") ?? ""];
    const value = bearer.of(c)[key];
    if (value === undefined) throw computeError(404, `${bearer.word} ${id} has no metadata with key ${key}.`);
    return value;
  };
  const given = async (c: StorageContext): Promise<Labels> => {
    const body = at(await bodyOf(c.req), "metadata");
    if (body === undefined) throw computeError(400, "'metadata' is a required property");
    return labels(body);
  };
  app.get(path, (c) => c.json({ metadata: bearer.of(c) }));
  app.post(path, async (c) => {
    // The body first: what is kept may change while it arrives.
    const added = await given(c);
    bearer.keep(c, { ...bearer.of(c), ...added });
    return c.json({ metadata: bearer.of(c) });
  });
  app.put(path, async (c) => {
    const metadata = await given(c);
    bearer.of(c);
    bearer.keep(c, metadata);
    return c.json({ metadata });
  });
  app.get(`${path}/:key`, (c) => c.json({ meta: { [c.req.param("key")]: item(c) } }));
  app.put(`${path}/:key`, async (c) => {
    const meta = at(await bodyOf(c.req), "meta");
    const key = c.req.param("key");
    if (!isObject(meta)) throw computeError(400, "'meta' is a required property");
    if (!(key in meta)) throw computeError(400, "Request body and URI mismatch");
    if (Object.keys(meta).length > 1) throw computeError(400, "Request body contains too many items");
    bearer.keep(c, { ...bearer.of(c), ...labels(meta) });
    return c.json({ meta });
  });
  app.delete(`${path}/:key`, (c) => {
    item(c);
    const { [c.req.param("key")]: _, ...left } = bearer.of(c);
    bearer.keep(c, left);
    return c.body(null, 200);
  });
}
