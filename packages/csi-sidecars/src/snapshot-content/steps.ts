/** What is done for one VolumeSnapshotContent. */
export type Step =
  /** The finalizer of a group snapshot's member. */
  | { readonly type: "protect" }
  /** The finalizer, and that a snapshot may exist of which no ID is known. */
  | { readonly type: "begin" }
  /** Create the snapshot, or read how far it is: the driver returns the same one. */
  | { readonly type: "create" }
  /** One that existed before. */
  | { readonly type: "read"; readonly handle: string }
  /** Delete the snapshot; without a handle, the one that may have been created. */
  | { readonly type: "delete"; readonly handle: string | undefined }
  | { readonly type: "release" };
