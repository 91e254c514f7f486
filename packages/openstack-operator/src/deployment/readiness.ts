import type { DaemonSet, Deployment, Job, KubeObject, StatefulSet } from "@causeway/kubernetes";
import type { Component } from "../model/component.ts";
import type { PerconaXtraDBCluster, RabbitmqCluster } from "../render/optional-types.ts";

/** What a workload does, as its own controller reports it. */
export interface Readiness {
  readonly state: "Absent" | "Progressing" | "Ready" | "Degraded" | "Failed";
  readonly step: string;
}

const ready = (step: string): Readiness => ({ state: "Ready", step });
const progressing = (step: string): Readiness => ({ state: "Progressing", step });

/** How far a workload is; undefined: it was not created yet. A Job is ready once it has ended. */
export function readinessOf(component: Component, found: KubeObject | undefined): Readiness {
  if (!found) return { state: "Absent", step: "not created yet" };
  switch (found.kind) {
    case "Deployment":
      return ofDeployment(found as Deployment);
    case "StatefulSet":
      return ofStatefulSet(component, found as StatefulSet);
    case "DaemonSet":
      return ofDaemonSet(found as DaemonSet);
    case "PerconaXtraDBCluster":
      return ofPercona(found as PerconaXtraDBCluster);
    case "RabbitmqCluster":
      return ofRabbitmq(found as RabbitmqCluster);
    default:
      return ofJob(found as Job);
  }
}

/** A status of an older generation says nothing about this one. */
const isSeen = ({ metadata, status }: Deployment | StatefulSet | DaemonSet): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 1);

function ofDeployment(found: Deployment): Readiness {
  const { replicas = 1 } = found.spec;
  const { replicas: all = 0, updatedReplicas = 0, availableReplicas = 0, conditions = [] } = found.status ?? {};
  if (!isSeen(found)) return progressing("the change is not observed yet");
  const stuck = conditions.find(({ type, status }) => type === "Progressing" && status === "False");
  // A new pod comes before an old one goes: as long as there are old ones, they are what is available.
  if (updatedReplicas < replicas || all > updatedReplicas) {
    const old = `${all - updatedReplicas} older pods until the new ones are available`;
    const step = updatedReplicas < replicas ? `${updatedReplicas} of ${replicas} pods are updated` : old;
    return stuck
      ? { state: "Failed", step: `${step}; the rollout stopped: ${stuck.message ?? ""}` }
      : progressing(step);
  }
  if (availableReplicas >= replicas) return ready(`${replicas} of ${replicas} pods are available`);
  const step = `${availableReplicas} of ${replicas} pods are available`;
  return availableReplicas > 0 ? { state: "Degraded", step } : progressing(step);
}

function ofStatefulSet({ quorum }: Component, found: StatefulSet): Readiness {
  const { replicas = 1 } = found.spec;
  const { readyReplicas = 0, updatedReplicas = 0, currentRevision, updateRevision } = found.status ?? {};
  if (!isSeen(found)) return progressing("the change is not observed yet");
  const step = `${readyReplicas} of ${replicas} pods are ready`;
  const rolls = updateRevision !== undefined && currentRevision !== updateRevision && updatedReplicas < replicas;
  if (rolls) return progressing(`${updatedReplicas} of ${replicas} pods are updated`);
  if (readyReplicas >= replicas) return ready(step);
  const enough = quorum === "Majority" ? Math.floor(replicas / 2) + 1 : 1;
  return readyReplicas >= enough && (found.status?.replicas ?? 0) >= replicas
    ? { state: "Degraded", step }
    : progressing(step);
}

/** Nodes that are away do not hold back the others. */
function ofDaemonSet(found: DaemonSet): Readiness {
  const { desiredNumberScheduled = 0, updatedNumberScheduled = 0, numberAvailable = 0 } = found.status ?? {};
  if (!isSeen(found)) return progressing("the change is not observed yet");
  if (desiredNumberScheduled === 0) return ready("no node is in its groups");
  const step = `${numberAvailable} of ${desiredNumberScheduled} nodes run it`;
  if (updatedNumberScheduled < numberAvailable)
    return progressing(`${updatedNumberScheduled} of ${desiredNumberScheduled} nodes are updated`);
  if (numberAvailable >= desiredNumberScheduled) return ready(step);
  return numberAvailable > 0 ? { state: "Degraded", step } : progressing(step);
}

function ofJob({ status }: Job): Readiness {
  const condition = (type: string) => status?.conditions?.find((each) => each.type === type && each.status === "True");
  if (condition("Complete")) return ready("done");
  const failed = condition("Failed");
  if (failed) return { state: "Failed", step: failed.message ?? failed.reason ?? "the Job failed" };
  return progressing((status?.failed ?? 0) > 0 ? `runs again after ${status?.failed} failures` : "runs");
}

/** A cluster that Percona's operator reports on. It serves while most of its servers do. */
function ofPercona({ metadata, status = {} }: PerconaXtraDBCluster): Readiness {
  const { state = "", message = [], pxc: { size = 0, ready: serving = 0 } = {} } = status;
  const isOld = status.observedGeneration !== undefined && status.observedGeneration < (metadata.generation ?? 1);
  if (state === "" || isOld) return progressing("Percona's operator has not observed it yet");
  const step = `${serving} of ${size} servers are ready`;
  if (state === "ready") return ready(step);
  if (size > 0 && serving > size / 2) return { state: "Degraded", step: `${step}; ${state}` };
  if (state === "error") return { state: "Failed", step: [step, ...message].join("; ") };
  return progressing(`${step}; ${state}`);
}

/** A cluster that its own operator reports on, by conditions. */
function ofRabbitmq({ metadata, status = {} }: RabbitmqCluster): Readiness {
  const isOld = status.observedGeneration !== undefined && status.observedGeneration < (metadata.generation ?? 1);
  if (!status.conditions || isOld) return progressing("RabbitMQ's operator has not observed it yet");
  const of = (type: string) => status.conditions?.find((each) => each.type === type);
  if (of("AllReplicasReady")?.status === "True") return ready("all replicas are ready");
  const step = of("AllReplicasReady")?.message || "not all replicas are ready";
  if (of("ClusterAvailable")?.status === "True") return { state: "Degraded", step };
  const failed = of("ReconcileSuccess");
  if (failed?.status === "False") return { state: "Failed", step: failed.message ?? failed.reason };
  return progressing(step);
}

/** May what needs it start? A degraded component still serves. */
export const serves = ({ state }: Readiness): boolean => state === "Ready" || state === "Degraded";
