import type { MagnumCluster } from "@causeway/api";

/** What was done to a cluster, as in the event type "magnum.cluster.create"; rotations and resizes are updates. */
export type AuditAction = "create" | "update" | "delete";
/** The outcome of CADF (DMTF DSP0262): "pending" when a request is accepted, the others when the change ends. */
export type AuditOutcome = "pending" | "success" | "failure";

/** What happened to a cluster. */
export interface Audited {
  readonly action: AuditAction;
  /** "pending": a request was accepted. */
  readonly outcome: AuditOutcome;
  /** Undefined: a request named none that there is. */
  readonly cluster?: MagnumCluster | undefined;
  /** Who sent the request; undefined: the controller found it. */
  readonly caller?: { readonly userId: string; readonly projectId: string; readonly domainId: string };
  /** Status of the response to a request that was refused. */
  readonly refusedWith?: number;
}

/** Takes what happened, at once and whatever becomes of the target. */
export interface AuditTrail {
  record(audited: Audited): void;
  /** Writes until the signal aborts, and once more then. */
  run(signal: AbortSignal): Promise<void>;
}
