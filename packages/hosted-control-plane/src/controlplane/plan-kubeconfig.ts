import type { Observed } from "./gather.ts";

/** A kubeconfig that clients can use. */
export interface UsableKubeconfig {
  readonly server: string;
  /** Ms since epoch. */
  readonly renewAt: number;
  /** False: it was written before the roots changed, and its certificate is of one that is trusted still. */
  readonly isCurrent: boolean;
}

/** Undefined: there is none, or its client certificate is of an authority that is not trusted any more. */
export function usableKubeconfig({
  kubeconfig,
  trustedSerials,
}: Pick<Observed, "kubeconfig" | "trustedSerials">): UsableKubeconfig | undefined {
  if (kubeconfig === undefined || trustedSerials === undefined) return undefined;
  const { server, renewAt, serials } = kubeconfig;
  // The first one issued its client certificate.
  const [issuer = ""] = serials.split(",");
  if (!trustedSerials.split(",").includes(issuer)) return undefined;
  return { server, renewAt, isCurrent: serials === trustedSerials };
}
