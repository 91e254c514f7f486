/** Glance v2, wire-true: https://docs.openstack.org/api-ref/image/v2/ */
import type { CallOptions, Collection } from "./collection.ts";

/** An image: https://docs.openstack.org/api-ref/image/v2/#images . */
export interface Image {
  id: string;
  name: string;
  status: string;
  visibility: string;
  /** GiB and MiB. */
  min_disk: number;
  min_ram: number;
  /** Bytes; null until there are any. */
  size: number | null;
  disk_format?: string;
  container_format?: string;
  checksum?: string | null;
  os_hash_algo?: string | null;
  os_hash_value?: string | null;
  protected?: boolean;
  tags: string[];
  owner?: string;
  created_at?: string;
  updated_at?: string;
}
/** Further keys are properties of the image. */
export interface ImageCreate {
  name: string;
  disk_format?: string;
  container_format?: string;
  visibility?: "public" | "private" | "shared" | "community";
  min_disk?: number;
  min_ram?: number;
  protected?: boolean;
  tags?: string[];
  [property: string]: unknown;
}
/**
 * https://docs.openstack.org/glance/latest/user/glanceapi.html: RFC 6902 with add, replace and remove of one property.
 */
export type ImagePatch = readonly { op: "add" | "replace" | "remove"; path: string; value?: unknown }[];
/** A project that an image is shared with. */
export interface ImageMember {
  image_id: string;
  member_id: string;
  status: "pending" | "accepted" | "rejected";
}

/** Glance: https://docs.openstack.org/api-ref/image/v2/ . */
export interface ImageService {
  readonly images: Collection<Image, ImageCreate, ImagePatch>;
  /** Sends an image's bytes, all in one stream; a function is called again for each attempt. */
  upload(id: string, data: Uint8Array | (() => AsyncIterable<Uint8Array>), options?: CallOptions): Promise<void>;
  /** The bytes, all of them in memory. */
  download(id: string, options?: CallOptions): Promise<Uint8Array>;
  deactivate(id: string, options?: CallOptions): Promise<void>;
  reactivate(id: string, options?: CallOptions): Promise<void>;
  addTag(id: string, tag: string, options?: CallOptions): Promise<void>;
  /** 404 is success. */
  removeTag(id: string, tag: string, options?: CallOptions): Promise<void>;
  members(imageId: string): ImageMembers;
}
/** The projects that an image of visibility "shared" is shared with. */
export interface ImageMembers {
  all(options?: CallOptions): Promise<ImageMember[]>;
  add(projectId: string, options?: CallOptions): Promise<ImageMember>;
  /** By the project itself. */
  answer(projectId: string, status: ImageMember["status"], options?: CallOptions): Promise<ImageMember>;
  /** 404 is success. */
  remove(projectId: string, options?: CallOptions): Promise<void>;
}
