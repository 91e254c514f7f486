/** What is done for one VolumeAttributesClass. */
export interface Step {
  readonly type: "protect" | "unprotect";
}
