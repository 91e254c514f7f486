import type { MagnumCluster } from "@causeway/api";
import { formatIp, parseIp } from "@causeway/foundation";
import { isLoopback } from "../import/phase.ts";

/**
 * The row with the address of the hosted control plane's machine among those from which kubelets are reached; the row
 * itself where it has it, or where there is none that security groups could name. Security groups of Heat's nodes let
 * it in by rules that the operator made; those of new nodes are others.
 */
export function withKubeletSource(cluster: MagnumCluster, peerHost: string): MagnumCluster {
  const address = parseIp(peerHost.replaceAll(/^\[|\]$/g, ""));
  if (address === undefined || isLoopback(peerHost)) return cluster;
  const source = `${formatIp(address)}/${address.version === 4 ? 32 : 128}`;
  const { spec } = cluster;
  const sources = spec.kubeletSources ?? [];
  if (sources.includes(source)) return cluster;
  return { ...cluster, spec: { ...spec, kubeletSources: [...sources, source] } };
}
