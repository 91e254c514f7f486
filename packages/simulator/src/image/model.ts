import { htmlPage } from "../kernel/html-page.ts";
import type { Caller, Kernel, Table } from "../kernel/interface.ts";

/** An image. Its bytes are in another table: `ImageData`. */
export interface Image {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly visibility: string;
  readonly owner: string;
  readonly disk_format: string | null;
  readonly container_format: string | null;
  readonly size: number | null;
  readonly virtual_size: number | null;
  readonly checksum: string | null;
  readonly os_hash_algo: string | null;
  readonly os_hash_value: string | null;
  readonly protected: boolean;
  readonly os_hidden: boolean;
  readonly min_ram: number;
  readonly min_disk: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly tags: readonly string[];
  /** Custom properties: os_distro, hw_disk_bus… */
  readonly properties: Readonly<Record<string, string>>;
}

/** An image's bytes. */
export interface ImageData {
  readonly id: string;
  readonly base64: string;
}

/** A project that a shared image is shared with; its id is "image/project". */
export interface ImageMember {
  readonly id: string;
  readonly image_id: string;
  readonly member_id: string;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** All of Glance's state apart from tasks and metadata definitions. */
export interface ImageTables {
  readonly images: Table<Image>;
  readonly data: Table<ImageData>;
  /** Bytes that wait for their import. */
  readonly staged: Table<ImageData>;
  readonly members: Table<ImageMember>;
}

/** Glance's tables. Nova and Cinder use the one of images, too. */
export const imageTables = (kernel: Kernel): ImageTables => ({
  images: kernel.table("image", ["name"]),
  data: kernel.table("_image_data"),
  staged: kernel.table("_image_staged"),
  members: kernel.table("_image_member", ["image_id", "member_id"]),
});

/** True if a project may use the image. */
export const imageVisible = (image: Image, projectId: string, isAdmin: boolean): boolean =>
  isAdmin || image.owner === projectId || image.visibility === "public" || image.visibility === "community";

/** True if a project may use the image, also because it is shared with it. */
export const isSeen = ({ members }: ImageTables, { projectId, isAdmin }: Caller, image: Image): boolean =>
  members.get(`${image.id}/${projectId}`) !== undefined || imageVisible(image, projectId, isAdmin);

/** The image, if the caller may see it. Throws Glance's 404. */
export function imageFor(tables: ImageTables, caller: Caller, id: string): Image {
  const image = tables.images.get(id);
  if (image && isSeen(tables, caller, image)) return image;
  throw htmlPage(404, { explanation: `No image found with ID ${id}` });
}

/** The image, if the caller may change it. Throws Glance's 403 and 404. */
export function ownImage(tables: ImageTables, caller: Caller, id: string): Image {
  const image = imageFor(tables, caller, id);
  if (image.owner === caller.projectId || caller.isAdmin) return image;
  throw htmlPage(403, { explanation: "You are not permitted to modify this image." });
}

/** An image as Glance writes it; where its bytes are is hidden of one that is deactivated. */
export function imageView({ properties, ...image }: Image, { isAdmin }: Caller): object {
  const self = `/v2/images/${image.id}`;
  const isHidden =
    ["queued", "uploading", "importing"].includes(image.status) || (image.status === "deactivated" && !isAdmin);
  const stores = isHidden ? {} : { stores: "file" };
  return { ...properties, ...image, self, file: `${self}/file`, schema: "/v2/schemas/image", ...stores };
}
