import type { NetworkPeer, NetworkPolicy } from "../types.ts";
import type { PlayedCluster } from "./played-cluster.ts";

/** Who may reach the API servers; undefined: every client. */
export function apiClientsOf({ live }: PlayedCluster): readonly NetworkPeer[] | undefined {
  const policy = live.get("NetworkPolicy/kube-apiserver") as NetworkPolicy;
  return policy.spec.ingress?.[0]?.from;
}
