import type { Clock, Log } from "@causeway/foundation";
import type { ClusterMetrics } from "../contract/cluster-metrics.ts";
import { recordRequest } from "./event.ts";

import { fileSink } from "./file-sink.ts";
import type { AuditOptions, AuditSink } from "../contract/audit.ts";
import { compilePolicy } from "./policy.ts";
import { webhookSink } from "./webhook-sink.ts";
import type { Audit } from "../contract/audit.ts";

/** Throws AUDIT_POLICY_INVALID, AUDIT_LOG_UNWRITABLE, and what a webhook's kubeconfig can. */
export function openAudit(
  { policy, log: file, webhook }: AuditOptions,
  world: { clock: Clock; log: Log; metrics?: ClusterMetrics },
): Audit {
  const evaluate = compilePolicy(policy);
  const sinks: AuditSink[] = [];
  if (file) sinks.push(fileSink(file, world));
  if (webhook) sinks.push(webhookSink(webhook, world));
  const recorder = {
    clock: world.clock,
    write: (event: string) => {
      world.metrics?.access.auditEvents.increment();
      for (const sink of sinks) sink.write(event);
    },
  };
  return {
    begin(beginning) {
      const recording = evaluate(beginning.asked);
      return recording && recordRequest(recorder, recording, beginning);
    },
    async close() {
      await Promise.all(sinks.map((sink) => sink.close()));
    },
  };
}
