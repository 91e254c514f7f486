import type { VolumeGroupSnapshotContent } from "../group-snapshot-objects.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../snapshot-objects.ts";

/** What is done for one VolumeGroupSnapshot. */
export type Step =
  /** The finalizer that keeps it until its content is deleted. */
  | { readonly type: "protect" }
  | { readonly type: "set-class"; readonly name: string }
  | { readonly type: "create-content"; readonly content: VolumeGroupSnapshotContent }
  /** The content was made before the group snapshot: it names it, without its uid. */
  | { readonly type: "bind-content" }
  /** The VolumeSnapshot of one volume, bound to its content, as far as they are missing. */
  | {
      readonly type: "create-member";
      readonly snapshot: VolumeSnapshot;
      readonly content: VolumeSnapshotContent;
      readonly status: Readonly<Record<string, unknown>>;
    }
  /** The content's driver may delete what it represents. */
  | { readonly type: "mark-content" }
  | { readonly type: "delete-content" }
  | { readonly type: "delete-members"; readonly names: readonly string[] }
  | { readonly type: "release" };
