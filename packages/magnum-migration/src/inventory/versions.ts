import { RUN_KUBERNETES } from "@causeway/api";

type Labels = Readonly<Record<string, string>>;

/**
 * Something of an older Kubernetes that has to be changed in the cluster before its version is raised past `removed`.
 */
interface Removal {
  /** Minor version of Kubernetes 1 that no longer has it. */
  readonly removed: number;
  readonly what: string;
}

/** API versions that clusters of the driver commonly have objects or clients of. */
const apis: readonly Removal[] = [
  { removed: 16, what: "extensions/v1beta1 and apps/v1beta1, v1beta2 workloads" },
  { removed: 22, what: "v1beta1 of Ingress, CustomResourceDefinition, webhook configurations, RBAC and Lease" },
  { removed: 25, what: "policy/v1beta1 PodSecurityPolicy and PodDisruptionBudget, batch/v1beta1 CronJob" },
  { removed: 26, what: "autoscaling/v2beta2, flowcontrol v1beta1" },
  { removed: 27, what: "storage.k8s.io/v1beta1 CSIStorageCapacity" },
  { removed: 29, what: "flowcontrol v1beta2" },
  { removed: 32, what: "flowcontrol v1beta3" },
];

/** Admission plugins that label admission_control_list may name. */
const admission: readonly Removal[] = [
  { removed: 25, what: "PodSecurityPolicy" },
  { removed: 30, what: "SecurityContextDeny" },
  { removed: 31, what: "PersistentVolumeLabel" },
];

const served = RUN_KUBERNETES.map((minor) => Number(minor.split(".")[1]));

/** Undefined: no version that this reads. */
export function minorOf(version: string): number | undefined {
  const found = /^v?1\.(\d+)(\.|$|-)/.exec(version)?.[1];
  return found === undefined ? undefined : Number(found);
}

/**
 * Why no hosted control plane that is migrated to serves the version, and the upgrades by the old Magnum that lead to
 * one that they do.
 */
export function versionProblem(version: string): string | undefined {
  const minor = minorOf(version);
  if (minor !== undefined && served.includes(minor)) return undefined;
  const says = `it has Kubernetes ${version || "of an unknown version"}; a hosted control plane that is migrated to (runtime Process) serves ${RUN_KUBERNETES.join(", ")}`;
  const target = served.find((one) => minor !== undefined && one > minor);
  if (minor === undefined || target === undefined) return says;
  const steps = Array.from({ length: target - minor }, (_, index) => `v1.${minor + index + 1}`);
  return `${says}. Upgrade it by Magnum, one minor version at a time: ${steps.join(", ")}`;
}

const between = (all: readonly Removal[], version: string): readonly Removal[] => {
  const minor = minorOf(version);
  const target = Math.max(...served);
  return all.filter(({ removed }) => minor !== undefined && removed > minor && removed <= target);
};

/** API versions that are gone in what it is upgraded to. */
export function removedApis(version: string): string | undefined {
  const gone = between(apis, version).map(({ removed, what }) => `${what} (1.${removed})`);
  return gone.length === 0
    ? undefined
    : `these are not served after its upgrades, named with the version that removes them: ${gone.join("; ")}. Change clients and manifests before; metric apiserver_requested_deprecated_apis names what is still used`;
}

/** Admission plugins that are gone in what it is upgraded to: an API server that is given one does not start. */
export function removedAdmission(version: string, labels: Labels): string | undefined {
  const named = new Set((labels["admission_control_list"] ?? "").split(",").map((one) => one.trim()));
  const [gone] = between(admission, version).filter(({ what }) => named.has(what));
  return gone && `label admission_control_list names ${gone.what}, which Kubernetes 1.${gone.removed} does not have`;
}

/** Kubernetes 1.24 has no support of Docker; the driver's default was host-docker. */
export function dockerProblem(version: string, labels: Labels): string | undefined {
  const minor = minorOf(version);
  if (minor === undefined || minor >= 24) return undefined;
  const runtime = labels["container_runtime"] ?? "";
  return runtime === "containerd"
    ? undefined
    : `its nodes run containers by ${runtime === "" ? "Docker (the default of label container_runtime)" : runtime}, which Kubernetes 1.24 does not support; move workloads to node groups with container_runtime=containerd first`;
}

/** The hosted etcd joins members of its own minor version or the one before: 3.5 and 3.6. */
export function etcdProblem(labels: Labels): string | undefined {
  const tag = labels["etcd_tag"] ?? "";
  const minor = /^v?3\.(\d+)/.exec(tag)?.[1];
  return minor === undefined || Number(minor) >= 5
    ? undefined
    : `its etcd is ${tag} (label etcd_tag); the hosted one joins 3.5 and later. Upgrade etcd by etcd_tag first`;
}
