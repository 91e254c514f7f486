/** A volume as Nova sees it. */
export interface LinkedVolume {
  readonly id: string;
  readonly project_id: string;
  readonly status: string;
  readonly bootable: boolean;
  readonly multiattach: boolean;
  readonly availability_zone: string;
}

/** A volume to be made for a server's disk. */
export interface VolumeRequest {
  readonly user_id: string;
  readonly size: number;
  readonly zone?: string;
  readonly type?: string;
  readonly image_id?: string;
  readonly snapshot_id?: string;
}

/** What the block storage service does for Nova. Calls are synchronous. */
export interface VolumeLinks {
  /** The volume, if the project may see it. */
  volume(projectId: string, id: string): LinkedVolume | undefined;
  /** Creates a volume; throws what POST /volumes would respond. */
  createVolume(projectId: string, request: VolumeRequest): LinkedVolume;
  /**
   * Takes the volume for a server: "reserved" and "attaching", then "in-use" after `milliseconds`, and with the
   * attachment. Gives the attachment's id.
   */
  attach(id: string, target: { readonly serverId: string; readonly device: string }, milliseconds: number): string;
  /**
   * Frees the volume of this server: "detaching", then "available" and without the attachment after `milliseconds`.
   * Nothing if it is gone.
   */
  detach(id: string, serverId: string, milliseconds: number): void;
  /** Notifies each server, by its id, when a volume attached to it was extended. */
  onGrown(notify: (serverId: string) => void): void;
  /** Deletes the volume, whatever its state. Nothing if it is gone. */
  deleteVolume(id: string): void;
}
