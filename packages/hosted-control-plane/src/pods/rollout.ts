import { compareVersions, type Deployment, type KubeObject, type Pod, type StatefulSet } from "@causeway/kubernetes";
import { printable, tellingLine } from "../program-log.ts";
import type { ControlPlaneProblem } from "../runtime.ts";
import { componentLabel, credentialsAnnotation, versionAnnotation } from "./tenant.ts";

type Workload = Deployment | StatefulSet;

/** The object as a Deployment or StatefulSet, which callers know it is. */
export function workload(object: KubeObject | undefined): Workload | undefined {
  return object as Workload | undefined;
}

/** Are all its pods of the newest template, and available? */
export function isRolledOut(live: Workload | undefined): boolean {
  if (live === undefined) return false;
  const { metadata, spec, status } = live;
  const wanted = spec.replicas ?? 1;
  if (status === undefined || (status.observedGeneration ?? 0) < (metadata.generation ?? 0)) return false;
  if ((status.updatedReplicas ?? 0) < wanted && !isUnchanged(live)) return false;
  return (status.replicas ?? 0) === wanted && (status.readyReplicas ?? 0) >= wanted;
}

/** A StatefulSet that was never updated counts no updated replicas. */
function isUnchanged({ status }: Workload): boolean {
  const { currentRevision, updateRevision } = (status ?? {}) as { currentRevision?: string; updateRevision?: string };
  return currentRevision !== undefined && currentRevision === updateRevision;
}

/** As the object's status says; 0 of an object that does not exist. */
export function replicasOf(live: Workload | undefined): { total: number; ready: number; updated: number } {
  const { replicas = 0, readyReplicas = 0, updatedReplicas = 0 } = live?.status ?? {};
  return { total: replicas, ready: readyReplicas, updated: updatedReplicas };
}

/** The Kubernetes version that its newest pods run; undefined: it does not exist. */
export function templateVersion(live: Workload | undefined): string | undefined {
  return live?.spec.template.metadata?.annotations?.[versionAnnotation];
}

/** The digest of the Secrets that its newest pods were made with; "" if it does not exist. */
export function templateCredentials(live: Workload | undefined): string {
  return live?.spec.template.metadata?.annotations?.[credentialsAnnotation] ?? "";
}

/** The pods of one program, ready or not. */
export function podsOf(pods: readonly Pod[], component: string): Pod[] {
  return pods.filter(({ metadata }) => metadata.labels?.[componentLabel] === component);
}

/** The oldest version that a ready pod of the component runs. */
export function servedVersion(pods: readonly Pod[], component: string): string | undefined {
  return podsOf(pods, component)
    .filter(({ metadata, status }) => {
      const isReady = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
      return isReady === true && metadata.deletionTimestamp === undefined;
    })
    .flatMap(({ metadata }) => metadata.annotations?.[versionAnnotation] ?? [])
    .toSorted(compareVersions)[0];
}

/** Addresses of pods of the component that are ready. */
export function readyAddresses(pods: readonly Pod[], component: string): string[] {
  // A new member of etcd, which answers little, is the last one.
  const ordered = podsOf(pods, component).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return ordered.flatMap(({ metadata, status }) => {
    const isReady = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
    const { podIP } = status ?? {};
    return isReady && podIP !== undefined && metadata.deletionTimestamp === undefined ? [podIP] : [];
  });
}

const IMAGE_REASONS = ["ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull"];
const LONGEST = 300;

/** Why a pod does not run, in words that say who must act. */
export function podProblem(pods: readonly Pod[]): ControlPlaneProblem | undefined {
  for (const pod of pods) {
    const found = problemOf(pod);
    if (found !== undefined) return found;
  }
  return undefined;
}

function problemOf(pod: Pod): ControlPlaneProblem | undefined {
  const { namespace = "", name } = pod.metadata;
  const where = `Pod ${namespace}/${name}`;
  const unscheduled = pod.status?.conditions?.find(({ type, status }) => type === "PodScheduled" && status === "False");
  if (unscheduled?.reason === "Unschedulable") {
    const message = `${where} cannot be scheduled: ${short(unscheduled.message)}`;
    return { code: "CONTROL_PLANE_UNSCHEDULABLE", message, actor: "operator" };
  }
  for (const { state, lastState } of (pod.status?.containerStatuses ?? []) as ContainerState[]) {
    const { reason = "", message = "" } = state?.waiting ?? {};
    if (IMAGE_REASONS.includes(reason)) {
      const text = `${where}: its image cannot be pulled: ${short(message)}`;
      return { code: "CONTROL_PLANE_IMAGE_MISSING", message: text, actor: "operator" };
    }
    if (reason === "CreateContainerConfigError" || reason === "CrashLoopBackOff") {
      const why = lastState?.terminated === undefined ? message : endOf(lastState.terminated);
      return { code: "CONTROL_PLANE_CRASHING", message: `${where}: ${short(why)}`, actor: "operator" };
    }
  }
  return undefined;
}

/** Messages of kubelets have what registries responded with, too. */
function short(message = ""): string {
  return printable(message).slice(0, LONGEST);
}

function endOf({ exitCode, message = "" }: Terminated): string {
  const said = tellingLine(message);
  return `exit status ${exitCode}${said === "" ? "" : `: ${said}`}`;
}

interface Terminated {
  readonly exitCode: number;
  readonly message?: string;
}

interface ContainerState {
  readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } };
  readonly lastState?: { readonly terminated?: Terminated };
}
