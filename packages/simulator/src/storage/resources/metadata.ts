import { computeError } from "../../compute/model.ts";
import { at, isObject } from "../../kernel/json.ts";
import { mountKeyValues, type KeyValueResource, type KeyValues } from "../../kernel/rest/key-values.ts";
import {
  instantOf,
  snapshotFor,
  volumeFor,
  type Snapshot,
  type StorageApp,
  type StorageEnv,
  type StorageParts,
  type Volume,
} from "../model.ts";
import type { StorageContext } from "../views.ts";
import { labels } from "./volumes.ts";

/** Metadata of volumes and of snapshots, all together and one by one. POST adds, PUT replaces. */
export function mountMetadata(app: StorageApp, { kernel, tables }: StorageParts): void {
  const changed = (metadata: KeyValues) => ({ metadata, updated_at: instantOf(kernel) });
  mountKeyValues<StorageEnv, Volume>(app, {
    ...common("Volume"),
    path: "/v3/:project/volumes/:id/metadata",
    find: (c) => volumeFor(tables, c.get("caller"), idOf(c)),
    pairsOf: ({ metadata }) => metadata,
    keep: (_c, { id }, metadata) => void tables.volumes.update(id, changed(metadata)),
  });
  mountKeyValues<StorageEnv, Snapshot>(app, {
    ...common("Snapshot"),
    path: "/v3/:project/snapshots/:id/metadata",
    find: (c) => snapshotFor(tables, c.get("caller"), idOf(c)),
    pairsOf: ({ metadata }) => metadata,
    keep: (_c, { id }, metadata) => void tables.snapshots.update(id, changed(metadata)),
  });
}

const idOf = (c: StorageContext): string => c.req.param("id") ?? "";

/** What both have in common; `word` is what messages call the resource. */
function common(
  word: string,
): Pick<KeyValueResource<StorageEnv, unknown>, "many" | "one" | "statuses" | "given" | "unknownKey"> {
  return {
    many: "metadata",
    one: "meta",
    statuses: { remove: 200 },
    given(c, body, verb) {
      if (verb === "set") return givenItem(at(body, "meta"), c.req.param("key") ?? "");
      const metadata = at(body, "metadata");
      if (metadata === undefined) throw computeError(400, "'metadata' is a required property");
      return labels(metadata);
    },
    unknownKey: (c) => computeError(404, `${word} ${idOf(c)} has no metadata with key ${c.req.param("key") ?? ""}.`),
  };
}

function givenItem(meta: unknown, key: string): KeyValues {
  if (!isObject(meta)) throw computeError(400, "'meta' is a required property");
  if (!(key in meta)) throw computeError(400, "Request body and URI mismatch");
  if (Object.keys(meta).length > 1) throw computeError(400, "Request body contains too many items");
  return labels(meta);
}
