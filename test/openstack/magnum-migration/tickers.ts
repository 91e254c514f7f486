/** Pods of real containers that write a line each second into a file of their own: one on each worker. */
import { Node, Pod, type KubernetesClient } from "@causeway/kubernetes";
import { eventually, kubectl } from "../../support/processes.ts";

const TIMEOUT = 600_000;
/** An image that every machine of the tests has. */
export const AGNHOST = "registry.k8s.io/e2e-test-images/agnhost:2.53";

interface Stamped {
  readonly name: string;
  readonly restartCount: number;
  readonly state?: { readonly running?: { readonly startedAt?: string } };
}

export interface Tickers {
  /** Each with its uid, and its container with its start and its restarts. */
  pods(): Promise<readonly string[]>;
  /** Through the API server and the kubelet: each has written lines since the last call. */
  grown(): boolean;
}

export async function startTickers(client: KubernetesClient, kubeconfig: string): Promise<Tickers> {
  const { items } = await client.list(Node, {});
  const names = items.map(({ metadata }) => `ticker-${metadata.name}`.slice(0, 63));
  for (const [index, { metadata }] of items.entries()) {
    const command = ["sh", "-c", "while :; do date +%s; sleep 1; done"];
    const containers = [{ name: "ticker", image: AGNHOST, imagePullPolicy: "Never", command }];
    await client.create(Pod, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace: "default", name: names[index] ?? "" },
      spec: { nodeName: metadata.name, containers, terminationGracePeriodSeconds: 1 },
    } as Pod);
  }
  const found = async () => {
    const { items: pods } = await client.list(Pod, { namespace: "default" });
    return pods.filter(({ metadata }) => names.includes(metadata.name));
  };
  const statuses = (pod: Pod) => (pod.status?.containerStatuses ?? []) as unknown as readonly Stamped[];
  await eventually(TIMEOUT, async () => {
    const pods = await found();
    return pods.every((pod) => statuses(pod).some(({ state }) => state?.running !== undefined));
  });
  const lines = (name: string): number => kubectl(kubeconfig, "logs", name).split("\n").length;
  const known = new Map<string, number>();
  return {
    async pods() {
      const pods = await found();
      return pods
        .map((pod) => {
          const [status] = statuses(pod);
          const started = status?.state?.running?.startedAt ?? "not running";
          return `${pod.metadata.name} ${pod.metadata.uid ?? ""} ${started} ${status?.restartCount ?? ""}`;
        })
        .toSorted();
    },
    grown() {
      const counts = names.map((name) => [name, lines(name)] as const);
      const isGrown = counts.every(([name, count]) => count > (known.get(name) ?? 0));
      for (const [name, count] of counts) known.set(name, count);
      return isGrown;
    },
  };
}
