/** The one step: no request is denied, and what is left to a person is an event. */
export interface Step {
  readonly type: "approve";
  /** Of the condition Approved. */
  readonly reason: string;
  readonly message: string;
}
