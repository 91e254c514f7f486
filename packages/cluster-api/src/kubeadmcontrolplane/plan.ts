import {
  annotations,
  finalizers,
  KubeadmControlPlane,
  labels,
  Machine,
  type KubeadmControlPlaneStatus,
} from "@causeway/api";
import {
  getCondition,
  ownerReference,
  setConditions,
  timestamp,
  type Plan,
  type PlannedEvent,
} from "@causeway/kubernetes";
import { whyAbsent } from "../contract/kind-table.ts";
import { certificateKinds, certificateSecretName } from "../objects/certificates.ts";
import { cloneOf } from "../machineset/clone.ts";
import { finalizerRemoval, lockOf, metadataPatch, missing } from "../objects/metadata.ts";
import { fingerprint } from "../objects/names.ts";
import { pausedPlan } from "../objects/paused.ts";
import { deleteStep, patchStep } from "../objects/steps.ts";
import { endpointText } from "../objects/kubeadm.ts";
import { addonUpkeep } from "./addons.ts";
import type { Observed, OwnedMachine } from "./observed.ts";
import { machineHealth } from "./health.ts";
import { configOf, inPlaceSpec, machineLabels } from "./machine.ts";
import { outdatedAt, outdatedBecause } from "./outdated.ts";
import { memberRemoval, release } from "./removal.ts";
import { remediation, remediationCleanup, remediationUnderWay, type Remediation } from "./remediation.ts";
import { scaling } from "./scale.ts";
import { controlPlaneStatus, type Progress } from "./status.ts";
import type { ControlPlaneStep } from "./steps.ts";

/** Steps write objects of both clusters, and change etcd's members. */
export type ControlPlanePlan = Plan<ControlPlaneStep, KubeadmControlPlaneStatus>;

/** Upstream's pace while preflight checks fail, and for checks of the machines otherwise. */
const blockedRetry = 15_000;
const healthCheck = 60_000;
const yearHalf = (365 / 2) * 24 * 3600_000;

/**
 * What to do for a KubeadmControlPlane: certificates, kubeconfig, then its machines, one at a time and never without
 * etcd's quorum.
 */
export function plan(observed: Observed, now: number): ControlPlanePlan {
  const { control, cluster } = observed;
  const paused = pausedPlan(control, cluster, now);
  if (paused) return paused;
  const reasons = new Map(
    observed.machines.map((owned) => [owned.machine.metadata.name, outdatedBecause(control, owned, now)] as const),
  );
  const outdated = new Set([...reasons].flatMap(([name, why]) => (why.length > 0 ? [name] : [])));
  const next = control.metadata.deletionTimestamp ? deletion(observed) : decide(observed, { reasons, outdated, now });
  const progress: Progress = { blocked: next.blocked ?? [], remediationBlocked: next.remediationBlocked, reasons, now };
  const times = [
    next.until,
    now + (next.blocked?.length ? blockedRetry : healthCheck),
    outdatedAt(control, observed.machines, now),
  ];
  return {
    steps: next.steps,
    status: controlPlaneStatus(observed, progress),
    events: next.events ?? [],
    wait: { for: next.blocked?.[0] ?? "changes", until: Math.min(...times.filter((time) => time !== undefined)) },
  };
}

interface View {
  readonly reasons: ReadonlyMap<string, readonly string[]>;
  readonly outdated: ReadonlySet<string>;
  readonly now: number;
}

interface Next {
  readonly steps: readonly ControlPlaneStep[];
  readonly blocked?: readonly string[];
  readonly remediationBlocked?: string | undefined;
  readonly until?: number;
  readonly events?: readonly PlannedEvent[];
}

function decide(observed: Observed, view: View): Next {
  const { control, cluster, machines } = observed;
  const own = metadataPatch(control, { finalizer: finalizers.kubeadmControlPlane });
  if (own) return { steps: patchStep(KubeadmControlPlane, control, own) };
  const obstacle = obstacleOf(observed);
  if (obstacle || !cluster) return { steps: [], blocked: [obstacle ?? "Waiting for the Cluster"] };
  const ground = foundation(observed, view.now);
  if (ground) return ground;
  const kept = upkeep(observed, view);
  if (kept.length > 0) return { steps: kept };
  const removal = memberRemoval(observed);
  if (removal.length > 0) return { steps: removal };
  const repair = remediation(observed, view.now);
  if (repair && (repair.steps.length > 0 || !remediationUnderWay(observed))) return repaired(observed, view, repair);
  const scaled = scaling(observed, view.outdated);
  const isSettled = scaled.steps.length === 0 && !scaled.blocked?.length && !machines.some(isLeavingMachine);
  if (!isSettled || view.outdated.size > 0 || machines.length < (control.spec.replicas ?? 1)) return scaled;
  return addonUpkeep(observed);
}

/** The replacement of a machine that failed, or one machine more where it would be possible with that. */
function repaired(observed: Observed, { outdated }: View, repair: Remediation): Next {
  const { steps, blocked, until, needsMore } = repair;
  const wait = until ? { until } : {};
  if (!blocked) return { steps, ...wait };
  const grown = needsMore ? scaling(observed, outdated) : undefined;
  if (grown && grown.steps.length > 0) return { steps: grown.steps, remediationBlocked: blocked, ...wait };
  return { steps, blocked: [blocked, ...(grown?.blocked ?? [])], remediationBlocked: blocked, ...wait };
}

function isLeavingMachine({ machine }: OwnedMachine): boolean {
  return machine.metadata.deletionTimestamp !== undefined;
}

function obstacleOf({ cluster, infrastructure }: Observed): string | undefined {
  if (!cluster) return "Waiting for a Cluster to refer to this control plane";
  if (cluster.metadata.deletionTimestamp) return "The Cluster is being deleted";
  if (!cluster.status?.initialization?.infrastructureProvisioned) return "Waiting for the cluster's infrastructure";
  if (!endpointText(cluster)) return "Waiting for the Cluster's spec.controlPlaneEndpoint";
  return infrastructure.object ? undefined : whyAbsent(infrastructure);
}

/**
 * Certificates and kubeconfig. A certificate that is lost after initialization is never made again: nothing would trust
 * it.
 */
function foundation(observed: Observed, now: number): Next | undefined {
  const { control, missingCertificates, kubeconfig } = observed;
  const kinds = certificateKinds(control.spec.kubeadmConfigSpec?.clusterConfiguration);
  const given = kinds.filter(({ purpose, isGiven }) => isGiven && missingCertificates.includes(purpose));
  if (given.length > 0) {
    const secrets = given.map(({ purpose, keyPath }) => {
      const name = certificateSecretName(observed.cluster?.metadata.name ?? "CLUSTER", purpose);
      return `${name} with tls.crt${keyPath === undefined ? "" : " and tls.key"}`;
    });
    return { steps: [], blocked: [`etcd is external: create Secret ${secrets.join(", and Secret ")}`] };
  }
  if (missingCertificates.length > 0) {
    if (control.status?.initialization?.controlPlaneInitialized || observed.machines.length > 0) {
      return { steps: [], blocked: [`Certificates are missing: ${missingCertificates.join(", ")}`] };
    }
    return { steps: [{ type: "create-certificates", purposes: missingCertificates }] };
  }
  const expires = kubeconfig.expires !== undefined && kubeconfig.expires - now < yearHalf;
  return !kubeconfig.exists || expires ? { steps: [{ type: "write-kubeconfig" }] } : undefined;
}

function upkeep(observed: Observed, view: View): ControlPlaneStep[] {
  const { cluster, machines, infrastructure } = observed;
  const template = infrastructure.object;
  const adopted =
    template && infrastructure.kind && cluster && !template.metadata.deletionTimestamp
      ? patchStep(
          infrastructure.kind,
          template,
          metadataPatch(template, {
            labels: { [labels.clusterName]: cluster.metadata.name },
            owner: ownerReference(cluster),
          }),
        )
      : [];
  const living = machines.filter(({ machine }) => !machine.metadata.deletionTimestamp);
  return [
    ...adopted,
    ...living.flatMap((owned) => inPlace(observed, owned)),
    ...living.flatMap((owned) => clones(observed, owned)),
    ...machines.flatMap((owned) => health(observed, owned, view)),
    ...remediationCleanup(observed),
  ];
}

/** Labels, annotations and fields that do not need a new machine, and the expiry that was read. */
function inPlace({ control, cluster, workload }: Observed, { machine }: OwnedMachine): ControlPlaneStep[] {
  const added = missing(machine.metadata.labels, machineLabels(control, cluster?.metadata.name ?? ""));
  const node = machine.status?.nodeRef?.name;
  const expiry = workload.reach === "connected" && node !== undefined ? workload.expiries.get(node) : undefined;
  const notes = missing(machine.metadata.annotations, {
    ...control.spec.machineTemplate.metadata?.annotations,
    ...(expiry === undefined ? {} : { [annotations.certificatesExpiry]: timestamp(expiry) }),
  });
  const wanted = inPlaceSpec(control);
  const changed = (["deletion", "readinessGates", "taints"] as const).filter(
    (name) => fingerprint(machine.spec[name]) !== fingerprint(wanted[name]),
  );
  if (!added && !notes && changed.length === 0) return [];
  return patchStep(Machine, machine, {
    metadata: { ...lockOf(machine), ...(added ? { labels: added } : {}), ...(notes ? { annotations: notes } : {}) },
    ...(changed.length > 0 ? { spec: Object.fromEntries(changed.map((name) => [name, wanted[name] ?? null])) } : {}),
  });
}

/** The provider objects that a machine lacks. A host that has been there and is gone is not made again. */
function clones(observed: Observed, { machine, config, host }: OwnedMachine): ControlPlaneStep[] {
  const { control, infrastructure, configKind } = observed;
  if (machine.status?.initialization?.infrastructureProvisioned) return [];
  const role = control.status?.initialization?.controlPlaneInitialized ? "join" : "init";
  const first: ControlPlaneStep[] =
    !config?.object && configKind && !observed.configs.has(machine.metadata.name)
      ? [{ type: "create", resource: configKind, object: configOf(control, machine, role) }]
      : [];
  const { object, cloneKind } = infrastructure;
  if (host.object || !object || !cloneKind || infrastructure.clones.has(machine.metadata.name)) return first;
  return [...first, { type: "create", resource: cloneKind, object: cloneOf(object, cloneKind, machine) }];
}

function health(observed: Observed, owned: OwnedMachine, { reasons, now }: View): ControlPlaneStep[] {
  const { machine } = owned;
  const wanted = machineHealth(observed, owned, reasons.get(machine.metadata.name) ?? []);
  const same = wanted.every((condition) => {
    const known = getCondition(machine.status?.conditions, condition.type);
    return (
      known?.status === condition.status &&
      known.reason === condition.reason &&
      (known.message ?? "") === (condition.message ?? "")
    );
  });
  if (same) return [];
  const kept = (machine.status?.conditions ?? []).filter(({ type }) =>
    wanted.some((condition) => condition.type === type),
  );
  return [
    {
      type: "set-conditions",
      machine,
      conditions: setConditions(kept, wanted, { generation: machine.metadata.generation, now }),
    },
  ];
}

/** Workers first; then all machines at once, without care for etcd; then the finalizer. */
function deletion(observed: Observed): Next {
  const { control, machines, workers } = observed;
  if (workers > 0) return { steps: [], blocked: [`${workers} workers are left`] };
  if (machines.length === 0) {
    return {
      steps: patchStep(KubeadmControlPlane, control, finalizerRemoval(control, finalizers.kubeadmControlPlane)),
    };
  }
  const steps = machines.flatMap((owned) => [...release(owned), ...deleteStep(Machine, owned.machine)]);
  return { steps, blocked: steps.length > 0 ? [] : [`${machines.length} Machines are being deleted`] };
}

/** The events of a step that was performed. */
export function controlPlaneStepEvents(step: ControlPlaneStep): PlannedEvent[] {
  const event = (reason: string, message: string): PlannedEvent[] => [{ type: "Normal", reason, message }];
  switch (step.type) {
    case "create":
      return step.resource.kind === Machine.kind
        ? event("SuccessfulCreate", `Created machine ${step.object.metadata.name}`)
        : [];
    case "delete":
      return event("SuccessfulDelete", `Deleting machine ${step.key.name}`);
    case "set-addon-image":
      return event("AddonImageChanged", `Set the image of ${step.addon} to ${step.image}`);
    case "remove-member":
      return event("EtcdMemberRemoved", `Removed etcd member ${step.member.name}`);
    case "move-leader":
      return event("EtcdLeaderMoved", `Moved etcd's leadership to ${step.to.name}`);
    default:
      return [];
  }
}
