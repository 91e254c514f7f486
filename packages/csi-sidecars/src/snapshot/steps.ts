import type { VolumeSnapshotContent } from "../snapshot-objects.ts";

/** What is done for one VolumeSnapshot. */
export type Step =
  /** The finalizers that keep it until its content is deleted, and while a claim is made of it. */
  | { readonly type: "protect" }
  | { readonly type: "set-class"; readonly name: string }
  | { readonly type: "create-content"; readonly content: VolumeSnapshotContent }
  /** The content was made before the snapshot: it names the snapshot, without its uid. */
  | { readonly type: "bind-content" }
  /** The content's driver may delete what it represents. */
  | { readonly type: "mark-content" }
  | { readonly type: "delete-content" }
  | { readonly type: "release" };
