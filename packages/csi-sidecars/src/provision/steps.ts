import type { CsiClient } from "@causeway/csi";
import type { PersistentVolume } from "@causeway/kubernetes";

/** The message CreateVolumeRequest of CSI, as a client may give it. */
export type CreateRequest = Exclude<Parameters<CsiClient["controller"]["createVolume"]>[0], undefined>;

/** The volume that is created for a claim, without what the driver returns. */
export interface VolumeTemplate {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec: PersistentVolume["spec"];
  readonly fsType: string | undefined;
}

/** What is done for one claim. */
export type Step =
  | {
      readonly type: "provision";
      readonly name: string;
      readonly request: CreateRequest;
      readonly template: VolumeTemplate;
    }
  /** The claim is gone while its volume was created: create it again, which returns it, and delete it. */
  | { readonly type: "abandon"; readonly name: string; readonly request: CreateRequest };
