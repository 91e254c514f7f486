import { compareVersions } from "@causeway/kubernetes";
import { isSameVersion, parseVersion } from "../objects/versions.ts";

/** The versions that a control plane and its workers pass through on their way to a version, each list in order. */
export interface UpgradePath {
  readonly controlPlane: readonly string[];
  readonly workers: readonly string[];
}

/** Versions such as "v1.34.2". */
export interface UpgradePathInput {
  /** The version of the topology. */
  readonly desired: string;
  readonly controlPlane: string;
  /** The oldest of the workers; undefined without workers. */
  readonly oldestWorkers: string | undefined;
  /** kubernetesVersions of the ClusterClass: steps of an upgrade over several minors. */
  readonly known: readonly string[] | undefined;
}

/** Kubelets may be three minors older than the API server (Kubernetes, version skew policy). */
const greatestSkew = 3;

/** @throws Error when there is no way to the desired version */
export function upgradePath(input: UpgradePathInput): UpgradePath {
  const { desired, controlPlane, oldestWorkers } = input;
  const path = controlPlaneSteps(input);
  const isBehind = oldestWorkers !== undefined && !isSameVersion(oldestWorkers, desired);
  return { controlPlane: path, workers: isBehind ? workerSteps(oldestWorkers, desired, [controlPlane, ...path]) : [] };
}

function controlPlaneSteps({ desired, controlPlane, known = [] }: UpgradePathInput): string[] {
  if (isSameVersion(desired, controlPlane)) return [];
  const [from, to] = [parseVersion(controlPlane).minor, parseVersion(desired).minor];
  if (compareVersions(desired, controlPlane) < 0)
    throw new Error(
      `cannot compute an upgrade plan from ${controlPlane} to ${desired}: a control plane cannot be downgraded`,
    );
  if (to <= from + 1) return [desired];
  const between: string[] = [];
  for (let minor = from + 1; minor < to; minor++) {
    const newest = known
      .filter((one) => parseVersion(one).minor === minor)
      .toSorted(compareVersions)
      .at(-1);
    if (newest === undefined) {
      throw new Error(
        `cannot compute an upgrade plan from ${controlPlane} to ${desired}: kubernetesVersions of the ClusterClass has no version 1.${minor}`,
      );
    }
    between.push(newest);
  }
  return [...between, desired];
}

/** As few as the skew between control plane and kubelets allows. */
function workerSteps(from: string, desired: string, versions: readonly string[]): string[] {
  const [first, last] = [parseVersion(from).minor, parseVersion(desired).minor];
  const steps: string[] = [];
  for (let minor = first + greatestSkew; minor < last; minor += greatestSkew) {
    const step = versions.findLast((one) => parseVersion(one).minor === minor);
    if (step !== undefined) steps.push(step);
  }
  return [...steps, desired];
}
