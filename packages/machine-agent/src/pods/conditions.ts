import { timestamp, type PodSpec, type PodStatus } from "@causeway/kubernetes";
import type { Containers } from "./containers.ts";

type Condition = NonNullable<PodStatus["conditions"]>[number];

/**
 * The conditions that a kubelet sets, after those of others (PodScheduled, readiness gates), with the times of their
 * last transitions.
 */
export function conditionsOf(
  before: readonly Condition[],
  { phase, containers, spec }: { phase: PodStatus["phase"]; containers: Containers; spec: PodSpec },
  now: number,
): Condition[] {
  const own = wanted(phase, containers, {
    before,
    gates: (spec["readinessGates"] ?? []) as { conditionType: string }[],
  });
  const names = new Set(own.map(({ type }) => type));
  const stamped = own.map((condition): Condition => {
    const old = before.find(({ type }) => type === condition.type);
    const lastTransitionTime = old?.status === condition.status ? old.lastTransitionTime : timestamp(now);
    return { ...condition, lastTransitionTime: lastTransitionTime ?? timestamp(now) };
  });
  return [...stamped, ...before.filter(({ type }) => !names.has(type))];
}

function wanted(
  phase: PodStatus["phase"],
  { main }: Containers,
  { before, gates }: { before: readonly Condition[]; gates: readonly { conditionType: string }[] },
): Condition[] {
  const truth = (type: string, is: boolean, why: Partial<Condition> = {}): Condition => ({
    type,
    status: is ? "True" : "False",
    ...(is ? {} : why),
  });
  if (phase === "Succeeded") {
    const why = { reason: "PodCompleted" };
    return [
      truth("PodReadyToStartContainers", false),
      { type: "Initialized", status: "True", ...why },
      truth("Ready", false, why),
      truth("ContainersReady", false, why),
    ];
  }
  const unready = main.filter(({ ready }) => ready !== true).map(({ name }) => name);
  const message = `containers with unready status: [${unready.join(" ")}]`;
  const why = phase === "Failed" ? { reason: "PodFailed" } : { reason: "ContainersNotReady", message };
  const closed = gates.find((gate) => before.find(({ type }) => type === gate.conditionType)?.status !== "True");
  const gateWhy = {
    reason: "ReadinessGatesNotReady",
    message: `corresponding condition of pod readiness gate "${closed?.conditionType ?? ""}" does not exist.`,
  };
  const isReady = unready.length === 0;
  const isRunning = phase === "Running";
  return [
    truth("PodReadyToStartContainers", isRunning),
    truth("Initialized", isRunning || phase === "Failed", { reason: "ContainersNotInitialized" }),
    truth("Ready", isReady && closed === undefined, isReady ? gateWhy : why),
    truth("ContainersReady", isReady, why),
  ];
}
