/** Glance and Cinder, wire-true, as far as clusters need them. */

export interface Image {
  id: string;
  name: string;
  status: string;
  visibility: string;
  min_disk: number;
  min_ram: number;
  size: number | null;
  disk_format?: string;
  tags: string[];
  owner?: string;
  created_at?: string;
}
export interface Volume {
  id: string;
  name: string;
  description: string | null;
  status: string;
  size: number;
  volume_type: string;
  availability_zone: string;
  bootable: string;
  attachments: { server_id: string; device?: string; attachment_id?: string; volume_id?: string }[];
  metadata: Record<string, string>;
  multiattach?: boolean;
}
export interface VolumeCreate {
  name: string;
  description?: string;
  size: number;
  volume_type?: string;
  availability_zone?: string;
  imageRef?: string;
  snapshot_id?: string;
  metadata?: Record<string, string>;
}
export interface VolumeType {
  id: string;
  name: string;
  is_public?: boolean;
}
