import { isRecord } from "@causeway/foundation";
import { withReplacements, type AdmissionDefaults, type KubeObject, type Replacement } from "@causeway/kubernetes";
import { withPrefix } from "../objects/versions.ts";

/** Where each kind has its version of Kubernetes, in v1beta1 and in v1beta2. */
const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  Cluster: ["spec", "topology", "version"],
  Machine: ["spec", "version"],
  MachineSet: ["spec", "template", "spec", "version"],
  MachineDeployment: ["spec", "template", "spec", "version"],
  MachinePool: ["spec", "template", "spec", "version"],
  KubeadmControlPlane: ["spec", "version"],
};

/** Versions are kept with "v", as Cluster API keeps them: controllers and dashboards compare them as texts. */
export const clusterApiDefaults: AdmissionDefaults = {
  writes: {
    "cluster.x-k8s.io": ["clusters", "machines", "machinesets", "machinedeployments", "machinepools"],
    "controlplane.cluster.x-k8s.io": ["kubeadmcontrolplanes"],
  },
  of: versionOf,
};

/** The object as admission stores it: what was stored before has no defaults. */
export function withDefaults<T extends KubeObject>(object: T): T {
  const [group = ""] = object.apiVersion.split("/");
  if (!Object.hasOwn(clusterApiDefaults.writes, group)) return object;
  return withReplacements(object, versionOf(object));
}

function versionOf(object: KubeObject): readonly Replacement[] {
  const { kind } = object;
  const path = Object.hasOwn(VERSIONS, kind) ? VERSIONS[kind] : undefined;
  if (!path) return [];
  const written = path.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), object);
  if (typeof written !== "string") return [];
  const value = withPrefix(written);
  return value === written ? [] : [{ path, value }];
}
