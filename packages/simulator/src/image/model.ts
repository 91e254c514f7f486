export interface Image {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly visibility: string;
  readonly owner: string;
  readonly disk_format: string;
  readonly container_format: string;
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

/** True if a project may use the image. */
export const imageVisible = (image: Image, projectId: string, isAdmin: boolean): boolean =>
  isAdmin || image.owner === projectId || image.visibility === "public" || image.visibility === "community";
