import { isTrue, Pod, type Condition, type KubernetesClient } from "@causeway/kubernetes";
import type { Tools } from "../../phase.ts";
import { ownPlugin } from "../../workloads/node-plugin.ts";

/** Nodes of the cluster by name: what `roll` has made, and what it replaces. */
export interface RolledNodes {
  readonly fresh: readonly string[];
  readonly adopted: readonly string[];
}

/** A DaemonSet that new nodes need, by the label of its pods. `isRequired`: also where it has no pod at all. */
interface NodeAddon {
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
}

const addons: readonly NodeAddon[] = [
  { name: "kube-proxy", label: "k8s-app=kube-proxy", isRequired: true },
  { name: ownPlugin.name, label: `app=${ownPlugin.name}`, isRequired: false },
];

/** Ms for one request to a kubelet. */
const TIMEOUT = 5_000;
/** Nodes of Heat's that are tried where a new one is not reached. */
const COMPARED = 3;

/**
 * Why pods that are drained would not work on the nodes that `roll` has made so far: an add-on that does not run, or a
 * kubelet that the API server does not reach, as logs and exec need it, while it reaches one of Heat's.
 */
export async function readNodeProblems(
  tools: Pick<Tools, "source" | "checked">,
  nodes: RolledNodes,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const pods = await Promise.all(
    addons.map(
      async ({ label }) =>
        (await tools.source.list(Pod, { namespace: "kube-system", labelSelector: label, signal })).items,
    ),
  );
  const unready = addons.flatMap((addon, index) => addonProblems(addon, nodes.fresh, pods[index] ?? []));
  return [...unready, ...(await kubeletProblems(tools, nodes, signal))];
}

/** A node that is to have the add-on has no ready pod of it. */
function addonProblems({ name, isRequired }: NodeAddon, nodes: readonly string[], pods: readonly Pod[]): string[] {
  if (pods.length === 0 && !isRequired) return [];
  return nodes.flatMap((node) => {
    const own = pods.filter(({ metadata, spec }) => !metadata.deletionTimestamp && spec?.nodeName === node);
    if (own.some(({ status }) => isTrue((status?.conditions ?? []) as Condition[], "Ready"))) return [];
    const [first] = own;
    return [`${name} does not work on Node ${node}: ${first ? reasonOf(first) : "it has no pod there"}`];
  });
}

interface ContainerStatus {
  readonly state?: { readonly waiting?: { readonly reason?: string }; readonly terminated?: object };
}

function reasonOf({ metadata, status }: Pod): string {
  const containers = (status?.containerStatuses ?? []) as readonly ContainerStatus[];
  const waiting = containers.map(({ state }) => state?.waiting?.reason).find((reason) => reason !== undefined);
  return `Pod ${metadata.name} is not ready${waiting === undefined ? "" : `, ${waiting}`}`;
}

/** A kubelet that was reached once is not probed again in this run. */
async function kubeletProblems(
  { source, checked }: Pick<Tools, "source" | "checked">,
  { fresh, adopted }: RolledNodes,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const mark = (node: string): string => `kubelet-rolled:${node}`;
  const left = fresh.filter((node) => !checked.has(mark(node)));
  const isReached = await Promise.all(left.map((node) => reaches(source, node, signal)));
  for (const [index, node] of left.entries()) if (isReached[index]) checked.add(mark(node));
  const unreached = left.filter((_, index) => !isReached[index]);
  if (unreached.length === 0) return [];
  const compared = await Promise.all(adopted.slice(0, COMPARED).map((node) => reaches(source, node, signal)));
  if (!compared.includes(true)) return [];
  return unreached.map(
    (node) =>
      `the API server does not reach the kubelet of Node ${node} at port 10250, though it reaches those of Heat's nodes: open the port in the security groups of its server`,
  );
}

async function reaches(source: KubernetesClient, node: string, signal: AbortSignal): Promise<boolean> {
  const path = `/api/v1/nodes/${encodeURIComponent(node)}/proxy/healthz`;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]);
  const isReached = await source.request("GET", path, { signal: limit }).then(
    () => true,
    () => false,
  );
  signal.throwIfAborted();
  return isReached;
}
