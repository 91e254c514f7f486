import type { ServiceClient } from "../session/client.ts";
import type { BlockStorageService, ImageService } from "../types/cloud.ts";
import type * as S from "../types/storage.ts";
import { createCollection } from "./collection.ts";

/** Glance. Its pages are 25 long unless asked for more. */
export function createImageService(client: ServiceClient): ImageService {
  const shape = { route: "/images", one: "", many: "images", defaults: { limit: 1000 } };
  return { images: createCollection<S.Image, never>(client, shape) };
}

/** Cinder. */
export function createBlockStorageService(client: ServiceClient): BlockStorageService {
  return {
    volumes: createCollection<S.Volume, S.VolumeCreate>(client, {
      route: "/volumes",
      listRoute: "/volumes/detail",
      one: "volume",
      many: "volumes",
    }),
    volumeTypes: createCollection<S.VolumeType, never>(client, {
      route: "/types",
      one: "volume_type",
      many: "volume_types",
    }),
  };
}
