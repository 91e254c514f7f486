/** What keeps a server from working that its operator has to see to. */
export interface ServerProblem {
  /** The check of /readyz that reports it. */
  readonly check: "disk" | "descriptors" | "workers";
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}
