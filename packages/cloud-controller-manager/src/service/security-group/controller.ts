import { messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import {
  runPipeline,
  isConflict,
  type ObjectKey,
  type Reconcile,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import type { EventDeduplicator } from "../../events/event-deduplicator.ts";
import { gather, type GatherFrom, type Observed } from "./gather.ts";
import { groupName } from "./names.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** What the reconcile of security groups works with. */
export interface SecurityGroupOptions extends GatherFrom {
  readonly deduplicator: EventDeduplicator;
  readonly metrics?: Metrics;
  readonly brakes?: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Brings the security group of one Service to what it shall be; before the Service's finalizer goes, to nothing. */
export function securityGroupReconcile(options: SecurityGroupOptions): Reconcile {
  const { cloud, watch, deduplicator, clock, log } = options;
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key, signal) => gather(options, key, signal),
    plan,
    perform: (step, _observed, signal) => perform({ cloud, watch }, step, signal),
    async publish({ service }, _status, events) {
      deduplicator.emit(service, events);
    },
    failed: (_observed, _planned, step, error) => {
      const message = `Error syncing security group: ${step.type}: ${messageOf(error)}`;
      const events = [{ type: "Warning", reason: "SyncLoadBalancerFailed", message } as const];
      return { status: undefined, events: isConflict(error) ? [] : events };
    },
  };
  return runPipeline(pipeline, {
    clock,
    log,
    name: "service-security-group",
    metrics: options.brakes ?? options.metrics,
  });
}

/**
 * The group first, then the load balancer. A Service that remains gets its load balancer whatever the group's trouble
 * is; one that goes waits for both.
 */
export function groupsFirst(options: SecurityGroupOptions, service: Reconcile): Reconcile {
  const groups = securityGroupReconcile(options);
  return async (key, signal) => {
    const going = options.services.get(key)?.metadata.deletionTimestamp !== undefined;
    let trouble: unknown;
    const before = await groups(key, signal).catch((error: unknown) => {
      if (going || signal.aborted) throw error;
      trouble = error;
    });
    const after = await service(key, signal);
    if (trouble !== undefined) throw trouble;
    return before && after ? { after: Math.min(before.after ?? Infinity, after.after ?? Infinity) } : (after ?? before);
  };
}

/** A group or a node's port that another changes wakes the Services it concerns. */
export function securityGroupSources(
  { watch, config }: SecurityGroupOptions,
  keysBy: (test: (service: Parameters<typeof groupName>[0]) => boolean) => ObjectKey[],
): Source[] {
  if (!config.loadBalancer.manageSecurityGroups) return [];
  return [
    (enqueue) =>
      watch.securityGroups.onChange(({ object }) =>
        keysBy((service) => groupName(service) === object.name).forEach(enqueue),
      ),
    (enqueue) =>
      watch.ports.onChange(({ object, previous }) => {
        if (object.device_id === "" || String(object.security_groups) === String(previous?.security_groups)) return;
        keysBy(() => true).forEach(enqueue);
      }),
  ];
}
