/** What is done for one volume. */
export type Step =
  | { readonly type: "protect" | "unprotect" }
  | {
      readonly type: "set-phase";
      readonly phase: "Available" | "Bound" | "Released" | "Failed";
      readonly message?: string;
    }
  | {
      /** Refused by the server if the volume changed since it was read. */
      readonly type: "unbind";
      /** The claim that a user named remains named. */
      readonly keepsName: boolean;
    };
