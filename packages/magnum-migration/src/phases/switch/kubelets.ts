import { isTrue, Node, type Condition } from "@causeway/kubernetes";
import { probeTargets, type Probe, type Unreached } from "./probe.ts";

/** A node whose kubelet one API server or the other does not reach. */
export interface UnreachedKubelet extends Unreached {
  readonly node: string;
}

/**
 * Ready nodes whose kubelet the hosted API server does not reach, as logs, exec and metrics need it: directly or by a
 * tunnel, with certificates that both accept. The probe is the kubelet's own health by way of the API server.
 */
export async function unreachedKubelets(probe: Probe, signal: AbortSignal): Promise<readonly UnreachedKubelet[]> {
  const { items } = await probe.source.list(Node, { signal });
  const targets = items
    .filter(({ status }) => isTrue((status?.conditions ?? []) as Condition[], "Ready"))
    .map(({ metadata: { name } }) => ({
      node: name,
      mark: `kubelet-probed:${name}`,
      path: `/api/v1/nodes/${encodeURIComponent(name)}/proxy/healthz`,
      isResponse: () => false,
    }));
  const found = await probeTargets(probe, targets, signal);
  return found.map(([{ node }, unreached]) => ({ node, ...unreached }));
}
