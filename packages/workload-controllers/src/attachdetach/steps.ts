import type { Pod } from "@causeway/kubernetes";
import type { Target } from "../objects/claim.ts";
import type { VolumeAttachment } from "../objects/storage.ts";

/** What is done for the volumes of one node. */
export type Step =
  | {
      readonly type: "create-attachment";
      readonly attachment: VolumeAttachment;
      /**
       * The step is left out if the server has an attachment of the volume to another node, whatever the cache shows.
       */
      readonly isExclusive: boolean;
    }
  | {
      readonly type: "delete-attachment";
      readonly target: Target;
      /**
       * The volume's name in `volumesInUse`: the step is left out if the server's Node has it, whatever the cache
       * shows.
       */
      readonly unlessUsed?: string;
    }
  | {
      /** The kubelet mounts what its node's status lists, and nothing else. */
      readonly type: "list-attached";
      /** As "kubernetes.io/csi/<driver>^<handle>". */
      readonly names: readonly string[];
      /** What is listed for the first time, for events. */
      readonly begun: readonly { readonly volume: string; readonly pods: readonly Pod[] }[];
    };
