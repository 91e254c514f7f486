/** What is done for one claim that requests a larger volume. */
export type Step =
  | { readonly type: "begin"; readonly bytes: bigint }
  /** Grow the volume, and say in the claim whether its node has to grow the file system. */
  | { readonly type: "expand"; readonly bytes: bigint };
