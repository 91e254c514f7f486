/** What became of the audit events that API servers send to a tenant's sink. */
export interface AuditFacts {
  readonly type: "delivered" | "failing";
  /** The URL of the sink. */
  readonly url: string;
}
