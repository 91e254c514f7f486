import { computeError } from "../compute/model.ts";
import { at, bodyOf, isObject } from "../kernel/json.ts";
import type { Labels, ShareApp, ShareContext } from "./model.ts";

/**
 * Where the metadata of a kind of resource is kept. Both functions throw if the caller may not see the resource of the
 * path's `id`.
 */
export interface Kept {
  readonly path: string;
  readonly get: (c: ShareContext) => Labels;
  readonly set: (c: ShareContext, metadata: Labels) => void;
}

const malformed = () => computeError(400, "Malformed request body");
const noItem = () => computeError(404, "MetadataItemNotFound: Metadata item is not found.");

/** The labels that a body gives. Throws Manila's 400 for what they cannot be. */
export function labelsOf(given: unknown): Labels {
  if (!isObject(given)) throw malformed();
  for (const [key, value] of Object.entries(given)) checkLabel(key, value);
  return given as Labels;
}

function checkLabel(key: string, value: unknown): void {
  const refuse = (why: string) => computeError(400, `Metadata property ${why}.`);
  if (key === "") throw refuse("key is blank");
  if (key.length > 255) throw refuse("key is greater than 255 characters");
  if (value === "" || value === null) throw refuse("value is blank");
  if (typeof value !== "string") throw malformed();
  if (value.length > 1023) throw refuse("value is greater than 1023 characters");
}

/**
 * The routes of metadata: https://docs.openstack.org/api-ref/shared-file-system/#share-metadata . A single item cannot
 * be PUT: the real service has no such route.
 */
export function addMetadataRoutes(app: ShareApp, { path, get, set }: Kept): void {
  const keep = (c: ShareContext, metadata: Labels) => {
    set(c, metadata);
    return c.json({ metadata });
  };
  app.get(path, (c) => c.json({ metadata: get(c) }));
  app.post(path, async (c) => {
    const given = labelsOf(at(await bodyOf(c.req), "metadata"));
    return keep(c, { ...get(c), ...given });
  });
  app.put(path, async (c) => {
    const given = labelsOf(at(await bodyOf(c.req), "metadata"));
    get(c);
    return keep(c, given);
  });
  app.get(`${path}/:key`, (c) => {
    const key = c.req.param("key") ?? "";
    const value = get(c)[key];
    if (value === undefined) throw noItem();
    return c.json({ meta: { [key]: value } });
  });
  app.delete(`${path}/:key`, (c) => {
    const { [c.req.param("key") ?? ""]: gone, ...left } = get(c);
    if (gone === undefined) throw noItem();
    set(c, left);
    return c.body(null, 200);
  });
}
