import { messageOf, type Clock } from "@causeway/foundation";
import { isTrue, Node, type Condition, type KubernetesClient } from "@causeway/kubernetes";

/** A node whose kubelet one API server or the other does not reach. */
export interface UnreachedKubelet {
  readonly node: string;
  /** What the hosted API server met. */
  readonly problem: string;
  /** The masters do not reach it either. */
  readonly isUnreachable: boolean;
}

/** With what the nodes' kubelets are probed by both API servers. */
export interface KubeletProbe {
  readonly source: KubernetesClient;
  /** The hosted API server itself, as an administrator. */
  readonly hosted: KubernetesClient;
  readonly clock: Clock;
  /** What was reached in this run, or by neither, is not probed again. */
  readonly checked: Set<string>;
}

/** Nodes that are probed at the same time, ms for each, and attempts: a tunnel may be connecting still. */
const TOGETHER = 8;
const TIMEOUT = 5_000;
const ATTEMPTS = 3;
const PAUSE = 1_000;

/**
 * Ready nodes whose kubelet the hosted API server does not reach, as logs, exec and metrics need it: directly or by a
 * tunnel, with certificates that both accept. The probe is the kubelet's own health by way of the API server.
 */
export async function unreachedKubelets(
  probe: KubeletProbe,
  signal: AbortSignal,
): Promise<readonly UnreachedKubelet[]> {
  const { items } = await probe.source.list(Node, { signal });
  const names = items
    .filter(({ status }) => isTrue((status?.conditions ?? []) as Condition[], "Ready"))
    .map(({ metadata }) => metadata.name)
    .filter((name) => !probe.checked.has(markOf(name)));
  const found: UnreachedKubelet[] = [];
  for (let at = 0; at < names.length; at += TOGETHER) {
    const some = names.slice(at, at + TOGETHER);
    const results = await Promise.all(some.map(async (node) => probeNode(probe, node, signal)));
    found.push(...results.filter((one) => one !== undefined));
  }
  return found;
}

const markOf = (node: string): string => `kubelet-probed:${node}`;

async function probeNode(
  { source, hosted, clock, checked }: KubeletProbe,
  node: string,
  signal: AbortSignal,
): Promise<UnreachedKubelet | undefined> {
  const path = `/api/v1/nodes/${encodeURIComponent(node)}/proxy/healthz`;
  const failing = (client: KubernetesClient): Promise<string | undefined> =>
    client.request("GET", path, { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]) }).then(
      () => undefined,
      (error: unknown) => messageOf(error).slice(0, 300),
    );
  for (let attempt = 1; ; attempt += 1) {
    const problem = await failing(hosted);
    signal.throwIfAborted();
    if (problem === undefined) {
      checked.add(markOf(node));
      return undefined;
    }
    const isUnreachable = (await failing(source)) !== undefined;
    signal.throwIfAborted();
    if (isUnreachable) checked.add(markOf(node));
    if (isUnreachable || attempt === ATTEMPTS) return { node, problem, isUnreachable };
    await clock.sleep(PAUSE, signal);
  }
}
