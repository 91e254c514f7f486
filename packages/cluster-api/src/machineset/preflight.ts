import { annotations } from "@causeway/api";
import { compareVersions } from "@causeway/kubernetes";
import { isStoredAlike } from "../objects/versions.ts";
import type { Observed, ObservedControlPlane } from "./observed.ts";
import { minorOf, versionSkew } from "./version-skew.ts";

type Checked = Pick<Observed, "set" | "cluster" | "controlPlane">;
type Check = (observed: Checked, controlPlane: ObservedControlPlane) => string | undefined;

/** Upstream's checks before a Machine is made, by the names with which a user skips them. */
const checks: Readonly<Record<string, Check>> = {
  ControlPlaneIsStable: unstable,
  KubernetesVersionSkew: ({ set }, { requested, reached }) =>
    versionSkew(set.spec.template.spec.version, reached ?? requested),
  KubeadmVersionSkew: kubeadmSkew,
  ControlPlaneVersionSkew: pendingWorkers,
};

/**
 * Why the control plane is not ready for another Machine; empty: it is, has no version, or the user skips the checks
 * that fail ("All" skips all of them).
 */
export function preflight(observed: Checked): string[] {
  const { set, controlPlane } = observed;
  if (!controlPlane) return [];
  const named = (set.metadata.annotations?.[annotations.skipPreflightChecks] ?? "").split(",");
  const skipped = new Set(named.map((name) => name.trim()));
  if (skipped.has("All")) return [];
  return Object.entries(checks).flatMap(([name, check]) => {
    const problem = skipped.has(name) ? undefined : check(observed, controlPlane);
    return problem === undefined ? [] : [`${problem} (check ${name})`];
  });
}

/** A control plane that is made, or upgraded, or that a topology is about to upgrade. */
function unstable({ cluster }: Checked, controlPlane: ObservedControlPlane): string | undefined {
  const { requested, reached } = controlPlane;
  const { topology } = cluster?.spec ?? {};
  const step = cluster?.metadata.annotations?.[annotations.upgradeStep] || undefined;
  if (topology && !isStoredAlike(topology.version, requested) && !(step && isStoredAlike(step, requested)))
    return `${title(controlPlane)} has a pending version upgrade to ${step ?? topology.version}`;
  if (reached === undefined) return `${title(controlPlane)} is provisioning`;
  return compareVersions(requested, reached) > 0 ? `${title(controlPlane)} is upgrading to ${requested}` : undefined;
}

/** kubeadm joins what kubeadm of the same minor has made. Hosted control planes are none of it. */
function kubeadmSkew({ set }: Checked, { kind, requested }: ObservedControlPlane): string | undefined {
  const { version, bootstrap } = set.spec.template.spec;
  if (kind !== "KubeadmControlPlane" || bootstrap.configRef?.kind !== "KubeadmConfigTemplate") return undefined;
  const [joined, made] = [minorOf(version), minorOf(requested)];
  if (joined === undefined || made === undefined || joined === made) return undefined;
  return `kubeadm of ${version} cannot join a control plane that kubeadm of ${requested} made`;
}

/** The version of a topology reaches its workers after the control plane. */
function pendingWorkers({ set, cluster }: Checked, controlPlane: ObservedControlPlane): string | undefined {
  const { version } = set.spec.template.spec;
  if (!cluster?.spec.topology || version === undefined || isStoredAlike(version, controlPlane.requested))
    return undefined;
  return `Machines of ${version} wait for the version ${controlPlane.requested} of ${title(controlPlane)}`;
}

function title({ kind, name }: ObservedControlPlane): string {
  return `${kind} ${name}`;
}
