/** Swift v1: https://docs.openstack.org/api-ref/object-store/ */
import type { CallOptions } from "./collection.ts";

/** An entry of a container's listing. */
export interface StoredObject {
  name: string;
  bytes: number;
  /** MD5 of the content. */
  hash: string;
  content_type: string;
  last_modified: string;
}

/** One page of a container's objects. */
export interface ObjectListing {
  /** Only names that begin with it. */
  readonly prefix?: string;
  /** Only names behind it, in order of bytes. */
  readonly marker?: string;
  /** At most 10,000. */
  readonly limit?: number;
}

/** Containers of the project, and the objects in them. A name may have slashes. */
export interface ObjectStoreService {
  /** Success, too, where it exists. */
  createContainer(name: string, options?: CallOptions): Promise<void>;
  /** Refused with 409 while it has objects. 404 is success. */
  deleteContainer(name: string, options?: CallOptions): Promise<void>;
  /** One page, in the order of names. */
  objects(container: string, listing?: ObjectListing, options?: CallOptions): Promise<StoredObject[]>;
  /** Creates or replaces. The service compares the content with its MD5. */
  put(container: string, name: string, data: Uint8Array, options?: CallOptions): Promise<void>;
  /** Held in memory as one array of bytes. Undefined: there is no such object. */
  get(container: string, name: string, options?: CallOptions): Promise<Uint8Array | undefined>;
  /** 404 is success. */
  delete(container: string, name: string, options?: CallOptions): Promise<void>;
}
