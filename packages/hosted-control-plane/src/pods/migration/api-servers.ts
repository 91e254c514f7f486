import type { Deployment, Pod } from "@causeway/kubernetes";
import type { Observed } from "../observed.ts";
import { isRolledOut, podsOf, workload } from "../rollout.ts";
import { datastoreWithData, migrationOf } from "./served.ts";

/** Which API servers the Service leads to: undefined: all. */
export function heldByOf(observed: Pick<Observed, "namespace" | "live" | "pods">): string | undefined {
  const record = migrationOf(observed);
  if (record?.heldBy === undefined || datastoreWithData(observed) === "Own") return undefined;
  const isHeld = record.stage === "Switching" || (record.stage === "Returning" && hasOwnServers(observed));
  return isHeld ? record.heldBy : undefined;
}

/** One that stores in an own etcd runs, or may start still. */
export function hasOwnServers({ live, pods }: Pick<Observed, "live" | "pods">): boolean {
  const program = workload(live.get("Deployment/kube-apiserver")) as Deployment | undefined;
  if (program === undefined) return false;
  return !isShared(program.spec.template.spec) || !isRolledOut(program) || apiServers(pods)[0].length > 0;
}

/** Those that store in an own etcd, and those that store in the shared one. */
export function apiServers(pods: readonly Pod[]): readonly [own: Pod[], shared: Pod[]] {
  const all = podsOf(pods, "kube-apiserver");
  return [all.filter(({ spec }) => !isShared(spec)), all.filter(({ spec }) => isShared(spec))];
}

function isShared({ containers }: Pod["spec"]): boolean {
  return containers.some(({ command = [] }) => command.some((each) => each.startsWith("--etcd-prefix=")));
}

/** It serves, and is not being deleted. */
export function isReady({ status, metadata }: Pod): boolean {
  const is = status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True");
  return is === true && metadata.deletionTimestamp === undefined;
}

/** The label of the template that a pod is from. */
export const hashOf = (pod: Pod | undefined): string | undefined => pod?.metadata.labels?.["pod-template-hash"];
