import type { HostedControlPlane } from "@causeway/api";
import { getCondition, type Condition, type PlannedEvent, type WantedCondition } from "@causeway/kubernetes";
import type { AuditFacts } from "./facts.ts";

const TYPE = "AuditDelivered";
const NO_SINK = "NoAuditSink";
const FAILING = "AuditSinkFailing";

/** Does the tenant's sink receive the audit events? Nothing before that is known, and nothing without a sink. */
export function auditConditions(
  { spec, status }: HostedControlPlane,
  facts: AuditFacts | undefined,
): WantedCondition[] {
  const known = getCondition(status?.conditions as Condition[] | undefined, TYPE);
  if (spec.audit === undefined) {
    // Said once that it is over, a condition of this type is never removed.
    return known === undefined ? [] : [{ type: TYPE, status: "True", reason: NO_SINK }];
  }
  const { url } = spec.audit.webhook;
  const message = `no events were sent to ${url} yet`;
  const waiting: WantedCondition = { type: TYPE, status: "Unknown", reason: "WaitingForEvents", message };
  // A process that has just begun keeps what another one found, unless that was without a sink.
  if (facts === undefined) return known?.reason === NO_SINK ? [waiting] : [];
  if (facts.url !== url) return known === undefined ? [] : [waiting];
  if (facts.type === "delivered") return [{ type: TYPE, status: "True", reason: "AuditDelivered" }];
  const lost = `the audit sink ${url} did not accept events of this control plane, which are lost after five attempts: its owner must repair it, or correct spec.audit; the operator must act if its network is closed to API servers (AUDIT_SINK_FAILING)`;
  return [{ type: TYPE, status: "False", reason: FAILING, message: lost }];
}

/** An event when the sink fails, and one when that is over. */
export function auditEvents(object: HostedControlPlane, facts: AuditFacts | undefined): PlannedEvent[] {
  const [wanted] = auditConditions(object, facts);
  const known = getCondition(object.status?.conditions as Condition[] | undefined, TYPE);
  if (wanted === undefined || wanted.status === known?.status) return [];
  if (wanted.status === "False") return [{ type: "Warning", reason: FAILING, message: wanted.message ?? "" }];
  if (wanted.status !== "True" || known?.status !== "False" || facts?.type !== "delivered") return [];
  return [{ type: "Normal", reason: "AuditDelivered", message: `the audit sink ${facts.url} accepts events again` }];
}
