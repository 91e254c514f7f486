/** What is done for one VolumeAttachment. */
export type Step =
  /**
   * The finalizers of the attachment and its volume, and the node's ID, which detaching needs when the node is gone.
   */
  | { readonly type: "protect"; readonly nodeId: string }
  | { readonly type: "publish"; readonly nodeId: string }
  | { readonly type: "unpublish"; readonly nodeId: string; readonly volumeId: string }
  | { readonly type: "release" }
  | { readonly type: "release-volume" };
