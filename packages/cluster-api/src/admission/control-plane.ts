import { isDeepStrictEqual } from "node:util";
import type { KubeadmControlPlane, KubeadmControlPlaneTemplate } from "@causeway/api";
import { compareBuilds, parseVersion } from "../objects/versions.ts";
import { attempt } from "./cluster.ts";

/** Fields of spec.kubeadmConfigSpec.clusterConfiguration that machines which exist have been made with. */
const IMMUTABLE = ["certificatesDir", "controlPlaneEndpoint", "caCertificateValidityPeriodDays"] as const;

/** Why a KubeadmControlPlane is refused. */
export function controlPlaneRefusals(after: KubeadmControlPlane, before: KubeadmControlPlane | undefined): string[] {
  if (after.metadata.deletionTimestamp !== undefined) return [];
  const version = attempt("spec.version: Invalid value", () => parseVersion(after.spec.version));
  return [
    ...version,
    ...replicaRefusals(after.spec.replicas, hasExternalEtcd(after)),
    ...surge(after),
    ...(before && version.length === 0 ? changes(after, before) : []),
  ];
}

/** Stacked etcd needs an odd number of members for its quorum. */
export function replicaRefusals(replicas: number | undefined, isEtcdExternal: boolean): string[] {
  if (replicas === undefined) return [];
  const path = `spec.replicas: Invalid value: ${replicas}`;
  if (replicas < 1) return [`${path}: must be 1 or more; delete the Cluster to remove its control plane`];
  if (replicas % 2 === 0 && !isEtcdExternal) return [`${path}: must be odd with stacked etcd`];
  return [];
}

/** etcd is then not a part of the control plane's machines, and any number of them may serve. */
export function hasExternalEtcd({ spec }: KubeadmControlPlane): boolean {
  return spec.kubeadmConfigSpec?.clusterConfiguration?.etcd?.external !== undefined;
}

function surge({ spec }: KubeadmControlPlane): string[] {
  const most = spec.rollout?.strategy?.rollingUpdate?.maxSurge;
  if (most === undefined || Number(most) === 1) return [];
  const path = `spec.rollout.strategy.rollingUpdate.maxSurge: Invalid value: ${JSON.stringify(most)}`;
  if (Number(most) !== 0) return [`${path}: must be 0 or 1`];
  return (spec.replicas ?? 1) < 3 ? [`${path}: needs at least 3 replicas`] : [];
}

function changes(after: KubeadmControlPlane, before: KubeadmControlPlane): string[] {
  return [
    ...IMMUTABLE.flatMap((field) => {
      const of = ({ spec }: KubeadmControlPlane): unknown => spec.kubeadmConfigSpec?.clusterConfiguration?.[field];
      const path = `spec.kubeadmConfigSpec.clusterConfiguration.${field}`;
      return isDeepStrictEqual(of(after), of(before)) ? [] : [`${path}: Forbidden: field is immutable`];
    }),
    ...attempt(`spec.version: Invalid value: ${JSON.stringify(after.spec.version)}`, () => {
      const [from, to] = [before.spec.version, after.spec.version];
      if (compareBuilds(to, from) < 0 && parseVersion(to).minor < parseVersion(from).minor)
        throw new Error(`cannot be downgraded from ${from}`);
      if (parseVersion(to).minor > parseVersion(from).minor + 1)
        throw new Error(`cannot skip a minor version: the control plane has ${from}`);
    }),
  ];
}

/** Why a KubeadmControlPlaneTemplate is refused: others were made from it. */
export function controlPlaneTemplateRefusals(
  after: KubeadmControlPlaneTemplate,
  before: KubeadmControlPlaneTemplate | undefined,
): string[] {
  if (!before || isDeepStrictEqual(after.spec.template.spec, before.spec.template.spec)) return [];
  return ["spec.template.spec: Forbidden: field is immutable; create another template and refer to that"];
}
