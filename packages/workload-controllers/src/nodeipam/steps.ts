/** Gives a Node its networks for pods, one of each family. */
export interface Step {
  readonly type: "assign";
  readonly name: string;
  readonly uid: string;
  readonly podCIDRs: readonly string[];
}
