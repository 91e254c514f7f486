import { annotations, labels, Machine, type KubeadmConfigSpec, type KubeadmControlPlane } from "@causeway/api";
import { ownerReference, type KubeObject } from "@causeway/kubernetes";
import { cloneKind } from "../contract/clone-kind.ts";
import { hasExternalEtcd } from "../objects/certificates.ts";
import { fingerprint, nameFromTemplate, suffixedName, suffixOf, type NamesInUse } from "../objects/names.ts";

/** Blocks the deletion of a machine until its member has left etcd. */
export const cleanupHook = `${annotations.preTerminateHookPrefix}/kcp-cleanup`;
const configGroup = "bootstrap.cluster.x-k8s.io";

/** Conditions without which a machine of a control plane is not Ready. */
export const healthConditions = [
  "APIServerPodHealthy",
  "ControllerManagerPodHealthy",
  "SchedulerPodHealthy",
  "EtcdPodHealthy",
  "EtcdMemberHealthy",
] as const;
const etcdConditions: ReadonlySet<string> = new Set(["EtcdPodHealthy", "EtcdMemberHealthy"]);

/** The health that one machine has: without a member of etcd there is none to report. Its readiness gates say so. */
export function healthOf({ spec }: Pick<Machine, "spec">): (typeof healthConditions)[number][] {
  const gates = new Set(spec.readinessGates?.map(({ conditionType }) => conditionType));
  const isStacked = !gates.has("APIServerPodHealthy") || gates.has("EtcdMemberHealthy");
  return healthConditions.filter((type) => isStacked || !etcdConditions.has(type));
}

/**
 * A free name, always the same one while the machines are the same: a create that is repeated finds it. `newest` says
 * which machine is the newest and which one is replaced, so that a machine does not get the name of one that has gone.
 */
export function nextName(
  control: KubeadmControlPlane,
  cluster: string,
  { taken, newest }: { readonly taken: NamesInUse; readonly newest: string },
): string {
  const { uid, name } = control.metadata;
  for (let slot = 0; ; slot++) {
    const suffix = suffixOf(`${uid ?? name}/${newest}/${slot}`);
    const template = control.spec.machineNaming?.template;
    const values = { "cluster.name": cluster, "kubeadmControlPlane.name": name };
    const chosen = template ? nameFromTemplate(template, values, suffix) : suffixedName(name, suffix);
    if (!taken.has(chosen)) return chosen;
  }
}

/** The fields of a Machine that change in place. */
export function inPlaceSpec({
  spec,
}: KubeadmControlPlane): Pick<Machine["spec"], "deletion" | "readinessGates" | "taints"> {
  const { deletion, readinessGates, taints } = spec.machineTemplate.spec;
  const isExternal = hasExternalEtcd(spec.kubeadmConfigSpec?.clusterConfiguration);
  const own = healthConditions
    .filter((type) => !isExternal || !etcdConditions.has(type))
    .map((conditionType) => ({ conditionType }));
  return {
    ...(deletion ? { deletion } : {}),
    readinessGates: [...own, ...(readinessGates ?? [])],
    ...(taints ? { taints } : {}),
  };
}

/** Of machines of the control plane, and of what is made for them. */
export function machineLabels({ metadata, spec }: KubeadmControlPlane, cluster: string): Record<string, string> {
  return {
    ...spec.machineTemplate.metadata?.labels,
    [labels.clusterName]: cluster,
    [labels.controlPlane]: "",
    [labels.controlPlaneName]: metadata.name,
  };
}

/** What a new machine does not get from the control plane's template. */
export interface NewMachine {
  readonly name: string;
  readonly cluster: string;
  readonly failureDomain: string | undefined;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A machine of the control plane. Its provider objects have its name, and are made after it, owned by it. */
export function newMachine(control: KubeadmControlPlane, given: NewMachine): Machine {
  const { name, cluster, failureDomain } = given;
  const { namespace } = control.metadata;
  const { machineTemplate, version } = control.spec;
  return {
    apiVersion: `${Machine.group}/${Machine.version}`,
    kind: Machine.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: machineLabels(control, cluster),
      annotations: { ...machineTemplate.metadata?.annotations, ...given.annotations, [cleanupHook]: "" },
      ownerReferences: [ownerReference(control, { controller: true })],
    },
    spec: {
      ...inPlaceSpec(control),
      clusterName: cluster,
      version,
      ...(failureDomain === undefined ? {} : { failureDomain }),
      bootstrap: { configRef: { apiGroup: configGroup, kind: "KubeadmConfig", name } },
      infrastructureRef: { ...cloneKind(machineTemplate.spec.infrastructureRef), name },
    },
  };
}

/** The KubeadmConfig of the machine that initialises the control plane, or of one that joins it. */
export function configSpec({ spec }: KubeadmControlPlane, role: "init" | "join"): KubeadmConfigSpec {
  const { initConfiguration, joinConfiguration, ...same } = spec.kubeadmConfigSpec ?? {};
  if (role === "init") return { ...same, ...(initConfiguration ? { initConfiguration } : {}) };
  return { ...same, joinConfiguration: { ...joinConfiguration, controlPlane: joinConfiguration?.controlPlane ?? {} } };
}

/** The KubeadmConfig of a machine: "init" for the first one, "join" for those that follow. */
export function configOf(
  control: KubeadmControlPlane,
  machine: Machine,
  role: "init" | "join",
): KubeObject & { spec: unknown } {
  const { name, namespace } = machine.metadata;
  return {
    apiVersion: `${configGroup}/v1beta2`,
    kind: "KubeadmConfig",
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...machine.metadata.labels },
      ownerReferences: [ownerReference(machine, { controller: true })],
    },
    spec: configSpec(control, role),
  };
}

/** True if a KubeadmConfig is as the control plane wants it, for either role. */
export function isCurrentConfig(control: KubeadmControlPlane, spec: unknown): boolean {
  const standing = fingerprint(spec);
  return (["init", "join"] as const).some((role) => fingerprint(configSpec(control, role)) === standing);
}
