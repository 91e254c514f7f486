/** Whether a control plane as pods is as requested: every pod of the newest template, ready, and none too many. */
import { HostedControlPlane } from "@causeway/api";
import {
  Deployment,
  isTrue,
  Namespace,
  Pod,
  StatefulSet,
  type Condition,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { key, until } from "./runtime-world.ts";

export interface Numbers {
  readonly members: number;
  /** Of API servers; there are as many controller managers and schedulers, two at most. */
  readonly replicas: number;
  readonly version?: string;
}

const CREDENTIALS = "controlplane.causeway.dev/credentials";
const VERSION_OF = "controlplane.causeway.dev/version";

/** The namespace of control plane "one". */
export async function namespaceOfOne(client: KubernetesClient): Promise<string> {
  const { items } = await client.list(Namespace);
  const found = items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("hcp-one-"));
  if (found.length !== 1) throw new Error(`${found.length} namespaces`);
  return found[0] ?? "";
}

export const isReady = ({ status }: Pod): boolean => isTrue((status?.conditions ?? []) as Condition[], "Ready");

/** Waits for it; the pods. */
export function settled(client: KubernetesClient, namespace: string, numbers: Numbers): Promise<Pod[]> {
  const { members, replicas, version } = numbers;
  const controllers = Math.min(replicas, 2);
  return until(
    `settled with ${members} members of etcd and ${replicas} API servers`,
    async () => {
      const { status } = await client.get(HostedControlPlane, key("one"));
      const conditions = (status?.conditions ?? []) as Condition[];
      if (!isTrue(conditions, "Available") || !isTrue(conditions, "UpToDate")) return undefined;
      if (version !== undefined && status?.version !== version) return undefined;
      const [{ items: sets }, { items: deployments }, { items: pods }] = await Promise.all([
        client.list(StatefulSet, { namespace }),
        client.list(Deployment, { namespace }),
        client.list(Pod, { namespace }),
      ]);
      if (pods.length !== members + replicas + 2 * controllers || !pods.every(isReady)) return undefined;
      const isCurrent = [...sets, ...deployments].every(({ metadata: { name }, spec }) => {
        const wanted = spec.template.metadata?.annotations ?? {};
        const own = pods.filter((pod) => pod.metadata.name.startsWith(`${name}-`));
        return (
          own.length === ({ etcd: members, "kube-apiserver": replicas }[name] ?? controllers) &&
          own.every(({ metadata: { annotations = {} } }) =>
            [CREDENTIALS, VERSION_OF].every((each) => annotations[each] === wanted[each]),
          ) &&
          (version === undefined || wanted[VERSION_OF] === version)
        );
      });
      return isCurrent ? pods : undefined;
    },
    3_000,
  );
}
