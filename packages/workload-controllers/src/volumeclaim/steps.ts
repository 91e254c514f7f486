import type { Target } from "../objects/claim.ts";

/** What is done for one claim. */
export type Step =
  | { readonly type: "protect" | "unprotect" }
  /** The default class, for a claim that names none. */
  | { readonly type: "set-class"; readonly storageClass: string }
  /** Asks an external provisioner for a volume. */
  | { readonly type: "set-provisioner"; readonly provisioner: string }
  | {
      /** Refused by the server if the volume changed since it was read: another claim may have been faster. */
      readonly type: "reserve-volume";
      readonly volume: Target;
      readonly resourceVersion: string | undefined;
      /** The user named no claim in the volume. */
      readonly chosenHere: boolean;
    }
  | {
      readonly type: "bind-claim";
      readonly volume: string;
      /** The user named no volume in the claim. */
      readonly chosenHere: boolean;
    }
  | {
      readonly type: "set-status";
      readonly phase: "Pending" | "Bound" | "Lost";
      readonly accessModes?: readonly string[];
      readonly capacity?: Readonly<Record<string, string>>;
    };
