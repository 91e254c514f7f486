import type { KubeadmControlPlaneStatus, Machine } from "@causeway/api";
import { labels } from "@causeway/api";
import { compareVersions, getCondition, isTrue, type WantedCondition } from "@causeway/kubernetes";
import { countMachines, machinesReady, machinesUpToDate } from "../machineset/status.ts";
import { isToRemediate } from "../machineset/remediation.ts";
import { listing, notPaused, settleConditions, summarise } from "../objects/conditions.ts";
import { hasExternalEtcd } from "../objects/certificates.ts";
import type { Observed } from "./observed.ts";
import { hasQuorum } from "./quorum.ts";
import { lastRemediation, remediationUnderWay } from "./remediation.ts";

/** What the plan decided, as far as conditions report it. */
export interface Progress {
  readonly blocked: readonly string[];
  readonly remediationBlocked: string | undefined;
  /** Why machines are outdated, by name. */
  readonly reasons: ReadonlyMap<string, readonly string[]>;
  readonly now: number;
}

/** The whole status; `version` is the lowest that a machine has. */
export function controlPlaneStatus(observed: Observed, progress: Progress): KubeadmControlPlaneStatus {
  const { control, machines: owned } = observed;
  const { generation, name } = control.metadata;
  const machines = owned.map(({ machine }) => machine);
  const initialized = isInitialized(observed);
  const remediated = lastRemediation(observed);
  const versions = machines.flatMap(({ spec }) => (spec.version ? [spec.version] : [])).toSorted(compareVersions);
  const conditions = conditionsOf(observed, machines, progress);
  return {
    conditions: settleConditions(conditions, { previous: control.status?.conditions, generation, now: progress.now }),
    initialization: { controlPlaneInitialized: initialized },
    ...countMachines(machines),
    selector: selectorOf(observed, name),
    ...(versions[0] ? { version: versions[0] } : {}),
    ...(remediated
      ? {
          lastRemediation: {
            machine: remediated.machine,
            time: remediated.timestamp,
            retryCount: remediated.retryCount,
          },
        }
      : {}),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

/** Once kubeadm has put its configuration into the cluster. What was true once remains true. */
export function isInitialized({ control, workload }: Observed): boolean {
  const before = control.status?.initialization?.controlPlaneInitialized === true;
  return before || (workload.reach === "connected" && workload.kubeadmVersion !== undefined);
}

function selectorOf({ cluster }: Observed, name: string): string {
  return `${labels.clusterName}=${cluster?.metadata.name ?? ""},${labels.controlPlane}=,${labels.controlPlaneName}=${name}`;
}

function conditionsOf(observed: Observed, machines: readonly Machine[], progress: Progress): WantedCondition[] {
  const certificates = certificatesAvailable(observed);
  const etcd = etcdHealthy(observed, machines);
  return [
    available(observed, machines, certificates),
    isInitialized(observed)
      ? { type: "Initialized", status: "True", reason: "Initialized" }
      : { type: "Initialized", status: "False", reason: "NotInitialized", message: progress.blocked[0] ?? "" },
    certificates,
    // What serves an external etcd is not known here.
    ...(hasExternalEtcd(observed.control.spec.kubeadmConfigSpec?.clusterConfiguration) ? [] : [etcd]),
    componentsHealthy(machines),
    machinesReady(machines),
    machinesUpToDate(machines),
    rollingOut(progress),
    ...scaling(observed, machines, progress),
    remediating(observed, machines, progress),
    deleting(observed, machines),
    notPaused,
  ];
}

function certificatesAvailable({ missingCertificates }: Observed): WantedCondition {
  const type = "CertificatesAvailable";
  if (missingCertificates.length === 0) return { type, status: "True", reason: "Available" };
  return { type, status: "False", reason: "NotAvailable", message: `Missing: ${missingCertificates.join(", ")}` };
}

function etcdHealthy({ workload }: Observed, machines: readonly Machine[]): WantedCondition {
  const type = "EtcdClusterHealthy";
  if (machines.length === 0)
    return { type, status: "Unknown", reason: "HealthUnknown", message: "There are no Machines" };
  if (workload.reach === "unreachable") {
    return { type, status: "Unknown", reason: "HealthUnknown", message: "The workload cluster cannot be reached" };
  }
  if (!("members" in workload.etcd)) {
    const message = "problem" in workload.etcd ? workload.etcd.problem : "etcd is external";
    return { type, status: "Unknown", reason: "HealthUnknown", message };
  }
  return summary(type, machines, ["EtcdPodHealthy", "EtcdMemberHealthy"]);
}

function componentsHealthy(machines: readonly Machine[]): WantedCondition {
  const type = "ControlPlaneComponentsHealthy";
  if (machines.length === 0)
    return { type, status: "Unknown", reason: "HealthUnknown", message: "There are no Machines" };
  return summary(type, machines, ["APIServerPodHealthy", "ControllerManagerPodHealthy", "SchedulerPodHealthy"]);
}

function summary(type: string, machines: readonly Machine[], parts: readonly string[]): WantedCondition {
  const inputs = machines.flatMap((machine) =>
    parts.map((part) => ({
      label: `Machine ${machine.metadata.name}: ${part}`,
      condition:
        getCondition(machine.status?.conditions, part) ?? ({ status: "Unknown", message: "is not reported" } as const),
    })),
  );
  return summarise(type, { whenTrue: "Healthy", whenFalse: "NotHealthy", whenUnknown: "HealthUnknown" }, inputs);
}

/** It serves: initialized, etcd has a quorum, and one machine has every component of the control plane. */
function available(observed: Observed, machines: readonly Machine[], certificates: WantedCondition): WantedCondition {
  const type = "Available";
  const { workload, control } = observed;
  const lacking = [
    ...(control.metadata.deletionTimestamp ? ["The control plane is being deleted"] : []),
    ...(certificates.status === "True" ? [] : ["Certificates are missing"]),
    ...(isInitialized(observed) ? [] : ["The control plane is not initialized yet"]),
    ...(machines.some(hasComponents) ? [] : ["No machine has all components of the control plane"]),
    ...(workload.reach === "connected" && "members" in workload.etcd && !hasQuorum(workload.etcd.members)
      ? ["etcd has no quorum"]
      : []),
  ];
  if (lacking.length === 0) return { type, status: "True", reason: "Available" };
  return { type, status: "False", reason: "NotAvailable", message: listing(lacking) };
}

function hasComponents({ status }: Machine): boolean {
  return ["APIServerPodHealthy", "ControllerManagerPodHealthy", "SchedulerPodHealthy"].every((part) =>
    isTrue(status?.conditions, part),
  );
}

function rollingOut({ reasons }: Progress): WantedCondition {
  const type = "RollingOut";
  const outdated = [...reasons].filter(([, why]) => why.length > 0);
  if (outdated.length === 0) return { type, status: "False", reason: "NotRollingOut" };
  const all = [...new Set(outdated.flatMap(([, why]) => why))].map((line) => `* ${line}`).join("\n");
  return {
    type,
    status: "True",
    reason: "RollingOut",
    message: `Rolling out ${outdated.length} not up-to-date replicas\n${all}`,
  };
}

function scaling({ control }: Observed, machines: readonly Machine[], progress: Progress): WantedCondition[] {
  const wanted = control.metadata.deletionTimestamp ? 0 : (control.spec.replicas ?? 1);
  const current = machines.length;
  const why = progress.blocked.length > 0 ? ` is blocked because:\n${listing(progress.blocked)}` : "";
  const one = (type: string, verb: string, active: boolean): WantedCondition =>
    active
      ? { type, status: "True", reason: type, message: `Scaling ${verb} from ${current} to ${wanted} replicas${why}` }
      : { type, status: "False", reason: `Not${type}` };
  return [one("ScalingUp", "up", current < wanted), one("ScalingDown", "down", current > wanted)];
}

function remediating(observed: Observed, machines: readonly Machine[], progress: Progress): WantedCondition {
  const type = "Remediating";
  const failed = machines.filter(isToRemediate).map(({ metadata }) => metadata.name);
  const under = remediationUnderWay(observed);
  if (!under && failed.length === 0) return { type, status: "False", reason: "NotRemediating" };
  const what = under ? `Machine ${under.machine} is being replaced` : `Machine ${failed.join(", ")} is not healthy`;
  const message = progress.remediationBlocked && !under ? `${what}: ${progress.remediationBlocked}` : what;
  return { type, status: "True", reason: "Remediating", message };
}

function deleting({ control, workers }: Observed, machines: readonly Machine[]): WantedCondition {
  const type = "Deleting";
  if (!control.metadata.deletionTimestamp) return { type, status: "False", reason: "NotDeleting" };
  if (workers > 0)
    return { type, status: "True", reason: "WaitingForWorkersDeletion", message: `${workers} workers are left` };
  if (machines.length === 0) return { type, status: "True", reason: "DeletionCompleted" };
  return { type, status: "True", reason: "WaitingForMachineDeletion", message: `${machines.length} Machines are left` };
}
