import { computeError } from "../../compute/model.ts";
import { at, isObject } from "../../kernel/json.ts";
import { mountKeyValues } from "../../kernel/rest/key-values.ts";
import type { Labels, ShareApp, ShareContext, ShareEnv } from "../model.ts";

/**
 * Where the metadata of a kind of resource is kept. Both functions throw if the caller may not see the resource of the
 * path's `id`.
 */
export interface MetadataStore {
  readonly path: string;
  readonly get: (c: ShareContext) => Labels;
  readonly set: (c: ShareContext, metadata: Labels) => void;
}

const malformed = () => computeError(400, "Malformed request body");

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
export function mountMetadata(app: ShareApp, { path, get, set }: MetadataStore): void {
  mountKeyValues<ShareEnv, Labels>(app, {
    path,
    many: "metadata",
    one: "meta",
    writes: ["add", "replace"],
    statuses: { remove: 200 },
    given: (_c, body) => labelsOf(at(body, "metadata")),
    find: (c) => get(c),
    pairsOf: (metadata) => metadata,
    keep: (c, _before, metadata) => set(c, metadata),
    unknownKey: () => computeError(404, "MetadataItemNotFound: Metadata item is not found."),
  });
}
