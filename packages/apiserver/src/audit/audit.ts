import { parseCidr, reachWithin, type Clock, type Log } from "@causeway/foundation";
import { createServerClient, createWebhookClient } from "../auth/webhook-client.ts";
import type { ClusterMetrics } from "../contract/cluster-metrics.ts";
import { recordRequest } from "./event.ts";
import { fileSink } from "./file-sink.ts";
import type { AuditOptions, AuditServerOptions, AuditSink, AuditWebhookOptions } from "../contract/audit.ts";
import { compilePolicy } from "./policy.ts";
import { webhookSink, type WebhookSinkContext } from "./webhook-sink.ts";
import type { Audit } from "../contract/audit.ts";

/** Throws AUDIT_POLICY_INVALID, AUDIT_LOG_UNWRITABLE, and what a webhook's kubeconfig can. */
export function openAudit(
  { policy, log: file, webhook, server }: AuditOptions,
  world: { clock: Clock; log: Log; metrics?: ClusterMetrics },
): Audit {
  const evaluate = compilePolicy(policy);
  const sinks: AuditSink[] = [];
  if (file) sinks.push(fileSink(file, world));
  if (webhook) sinks.push(toWebhook(webhook, world));
  if (server) sinks.push(toServer(server, world));
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

const MIB = 1024 * 1024;

/** As kube-apiserver's --audit-webhook-batch-buffer-size has it. */
function toWebhook(
  { kubeconfigFile, batchSize = 400, batchWait = 30_000 }: AuditWebhookOptions,
  world: WebhookSinkContext,
) {
  const bounds = { batchSize, batchWait, longestQueue: 10_000, largestQueue: 64 * MIB };
  return webhookSink(createWebhookClient(kubeconfigFile), bounds, world);
}

/** A tenant's: what waits for it is bounded so that all tenants of a process may have one that does not respond. */
function toServer({ url, certificateAuthority: ca, token, networks }: AuditServerOptions, world: WebhookSinkContext) {
  const reach = reachWithin(networks.flatMap((each) => parseCidr(each) ?? []));
  const client = createServerClient({ url, ca, token, reach });
  return webhookSink(client, { batchSize: 100, batchWait: 5_000, longestQueue: 2_000, largestQueue: 2 * MIB }, world);
}
