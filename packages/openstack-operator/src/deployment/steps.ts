import type { KubeObject } from "@causeway/kubernetes";

/**
 * What the controller can do. `name` identifies the target for the brake. Secret values are made when a step is
 * performed: steps have none.
 */
export type Step =
  | { readonly type: "apply"; readonly name: string; readonly object: KubeObject }
  | { readonly type: "delete"; readonly name: string; readonly object: KubeObject }
  /** Gives every account of these generations, and every other key, a value. */
  | {
      readonly type: "write-credentials";
      readonly name: string;
      readonly generation: number;
      readonly accounts: readonly number[];
    }
  /** Makes the passwords and keys of a backup those of the deployment. */
  | { readonly type: "adopt-keys"; readonly name: string; readonly backup: string }
  | { readonly type: "create-keys"; readonly name: string; readonly staged?: number }
  /** Rotates keys that were last rotated at this time. */
  | {
      readonly type: "rotate-keys";
      readonly name: string;
      readonly since: string;
      /** How many keys there are at most after it, or how long those that no longer sign are kept. */
      readonly kept: number | { readonly minutes: number };
      /** How many keys wait for their turn after it; 1 unless it is said. */
      readonly staged?: number;
      readonly generation?: number;
    }
  /** Replaces keys that have one value at a time. */
  | { readonly type: "replace-keys"; readonly name: string; readonly generation: number }
  /** Issues a certificate for these names, with an authority of the deployment. */
  | {
      readonly type: "issue-certificate";
      readonly name: string;
      readonly hosts: readonly string[];
      readonly days: number;
      /** False: only the names changed, and pods that have the earlier one keep it. */
      readonly renews: boolean;
    };
