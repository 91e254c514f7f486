/**
 * Why a kubelet of this version may not join a control plane of that one, if so: kubelets are never newer, and at most
 * three minors older (kubernetes.io, version skew policy).
 */
export function versionSkew(kubelet: string | undefined, controlPlane: string | undefined): string | undefined {
  const node = minorOf(kubelet);
  const server = minorOf(controlPlane);
  if (node === undefined || server === undefined) return undefined;
  if (node > server) return `Kubelets ${kubelet ?? ""} would be newer than the control plane ${controlPlane ?? ""}`;
  if (server - node > 3)
    return `Kubelets ${kubelet ?? ""} are more than three minors older than the control plane ${controlPlane ?? ""}`;
  return undefined;
}

/** 34 of "v1.34.2"; undefined if it is no version of Kubernetes 1. */
export function minorOf(version: string | undefined): number | undefined {
  const match = /^v?1\.(\d+)\./.exec(version ?? "");
  return match?.[1] === undefined ? undefined : Number(match[1]);
}
