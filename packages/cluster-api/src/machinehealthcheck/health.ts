import { annotations, labels, type Cluster, type MachineHealthCheck } from "@causeway/api";
import { getCondition, isTrue, type Condition } from "@causeway/kubernetes";
import type { Target } from "./observed.ts";

/** What the checks say of one Machine. */
export type Health =
  | { readonly state: "healthy" }
  /** Not healthy yet, and unhealthy from `until` on, if nothing changes. */
  | { readonly state: "pending"; readonly until?: number }
  | { readonly state: "unhealthy"; readonly reason: string; readonly message: string };

const defaultStartup = 600;

/** What the health of all Machines of a check depends on. */
export interface HealthContext {
  readonly check: MachineHealthCheck;
  readonly cluster: Cluster;
  readonly now: number;
}

/** The health of a Machine: what a person marked first, then its conditions, then its Node. */
export function healthOf({ machine, node }: Target, { check, cluster, now }: HealthContext): Health {
  if (machine.metadata.annotations?.[annotations.remediateMachine] !== undefined) {
    const message = `Health check failed: marked for remediation via ${annotations.remediateMachine} annotation`;
    return { state: "unhealthy", reason: "HasRemediateAnnotation", message };
  }
  const isControlPlane = machine.metadata.labels?.[labels.controlPlane] !== undefined;
  const conditions = cluster.status?.conditions;
  if (!isTrue(conditions, "ControlPlaneInitialized") && !isControlPlane) return { state: "pending" };
  if (!isTrue(conditions, "InfrastructureReady")) return { state: "pending" };
  const { unhealthyMachineConditions = [], unhealthyNodeConditions = [] } = check.spec.checks ?? {};
  const ofMachine = failing("Machine", { wanted: unhealthyMachineConditions, found: machine.status?.conditions, now });
  const ofNode = node
    ? failing("Node", {
        wanted: unhealthyNodeConditions,
        found: node.status?.conditions as Condition[] | undefined,
        now,
      })
    : withoutNode({ machine, node }, { check, cluster, now });
  const messages = [...ofMachine.messages, ...ofNode.messages];
  if (messages.length > 0) {
    const reason = ofMachine.messages.length > 0 ? "UnhealthyMachine" : ofNode.reason;
    const message = `Health check failed:\n${messages.map((line) => `  * ${line}`).join("\n")}`;
    return { state: "unhealthy", reason, message };
  }
  const times = [ofMachine.until, ofNode.until].filter((time) => time !== undefined);
  if (times.length > 0) return { state: "pending", until: Math.min(...times) };
  return node && !machine.metadata.deletionTimestamp ? { state: "healthy" } : { state: "pending" };
}

interface Finding {
  readonly reason: string;
  readonly messages: readonly string[];
  readonly until?: number;
}

interface Wanted {
  readonly type: string;
  readonly status: string;
  readonly timeoutSeconds?: number;
}

function failing(
  kind: "Machine" | "Node",
  on: { readonly wanted: readonly Wanted[]; readonly found: readonly Condition[] | undefined; readonly now: number },
): Finding {
  const messages: string[] = [];
  const times: number[] = [];
  for (const { type, status, timeoutSeconds = 0 } of on.wanted) {
    const condition = getCondition(on.found, type);
    if (condition?.status !== status) continue;
    const end = Date.parse(condition.lastTransitionTime) + timeoutSeconds * 1000;
    if (!(end < on.now)) {
      // A time that cannot be read is not a time to wait for.
      if (!Number.isNaN(end)) times.push(end + 1000);
      continue;
    }
    const why = `is reporting status ${status} with reason ${condition.reason} for more than ${timeoutSeconds}s`;
    messages.push(`Condition ${type} on ${kind} ${why}`);
  }
  const until = messages.length === 0 && times.length > 0 ? { until: Math.min(...times) } : {};
  return { reason: `Unhealthy${kind}`, messages, ...until };
}

/** A Node that was there and is gone, or one that has not come in time. */
function withoutNode({ machine }: Target, { check, cluster, now }: HealthContext): Finding {
  const { nodeRef } = machine.status ?? {};
  if (nodeRef) return { reason: "NodeDeleted", messages: [`Node ${nodeRef.name} has been deleted`] };
  const limit = check.spec.checks?.nodeStartupTimeoutSeconds ?? defaultStartup;
  const reason = "NodeStartupTimeout";
  if (limit === 0) return { reason, messages: [] };
  const starts = [
    machine.metadata.creationTimestamp,
    whenTrue(cluster.status?.conditions, "ControlPlaneInitialized"),
    whenTrue(cluster.status?.conditions, "InfrastructureReady"),
    whenTrue(machine.status?.conditions, "InfrastructureReady"),
  ].flatMap((time) => (time === undefined ? [] : [Date.parse(time)]));
  const end = Math.max(...starts, 0) + limit * 1000;
  if (end < now) return { reason, messages: [`Node failed to report startup in ${limit}s`] };
  return { reason, messages: [], until: end + 1000 };
}

function whenTrue(conditions: readonly Condition[] | undefined, type: string): string | undefined {
  const condition = getCondition(conditions, type);
  return condition?.status === "True" ? condition.lastTransitionTime : undefined;
}
