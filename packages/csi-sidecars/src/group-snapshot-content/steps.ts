/** What is done for one VolumeGroupSnapshotContent. */
export type Step =
  /** The finalizer, and that a group snapshot may exist of which no ID is known. */
  | { readonly type: "begin" }
  /** Create the group snapshot, or read how far it is: the driver returns the same one. */
  | { readonly type: "create" }
  /** One that existed before. */
  | { readonly type: "read"; readonly handle: string; readonly members: readonly string[] }
  /** Delete the group snapshot; without a handle, the one that may have been created. */
  | { readonly type: "delete"; readonly handle: string | undefined; readonly members: readonly string[] }
  | { readonly type: "release" };
