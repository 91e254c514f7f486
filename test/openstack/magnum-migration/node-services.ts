/**
 * Whether nodes lead to Services: from a pod on each of them, one is reached whose only endpoint is on the first node.
 * The pods report it by objects that they write, so that nothing of it needs a connection to a kubelet.
 */
import { ConfigMap, Pod, Service, type KubernetesClient } from "@causeway/kubernetes";
import { eventually, kubectl } from "../../support/processes.ts";
import { podWithKubectl } from "./pod-writer.ts";
import { AGNHOST } from "./tickers.ts";

const TIMEOUT = 300_000;
const NAMESPACE = "default";
const NAME = "node-services";
/** Of the host network, since the pods of other nodes need not be reached. */
const PORT = 18_080;

const reporterOf = (index: number): string => `${NAME}-${index}`;

/** The script of a pod on one node. Its role is that of the pod that writes. */
const scriptOf = (address: string, index: number): string => {
  const report = JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: reporterOf(index), labels: { by: NAME } },
  });
  return `until /agnhost connect --timeout=5s ${address}; do sleep 1; done
until echo '${report}' | timeout 20 /bin/kubectl create --raw /api/v1/namespaces/${NAMESPACE}/configmaps -f - 2>&1 |
  grep -e '"kind":"ConfigMap"' -e AlreadyExists -e 'already exists'
do sleep 1; done
echo reported
sleep infinity`;
};

export interface NodeServices {
  /** Nodes from which the Service was reached. */
  readonly reached: readonly string[];
  /** Nodes with a pod whose log was read through the API server and the node's kubelet. */
  readonly logged: readonly string[];
}

export async function checkNodeServices(
  client: KubernetesClient,
  kubeconfig: string,
  nodes: readonly string[],
): Promise<NodeServices> {
  const labels = { app: NAME };
  const create = (name: string, spec: object) =>
    client.create(Pod, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace: NAMESPACE, name, labels: name === NAME ? labels : {} },
      spec,
    } as Pod);
  const args = ["netexec", `--http-port=${PORT}`, "--udp-port=-1"];
  await create(NAME, {
    nodeName: nodes[0],
    hostNetwork: true,
    containers: [{ name: "target", image: AGNHOST, imagePullPolicy: "Never", args }],
    terminationGracePeriodSeconds: 1,
  });
  const { spec } = await client.create(Service, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace: NAMESPACE, name: NAME },
    spec: { selector: labels, ports: [{ port: 80, targetPort: PORT }] },
  } as unknown as Service);
  const address = `${String((spec as { clusterIP?: string } | undefined)?.clusterIP)}:80`;
  for (const [index, nodeName] of nodes.entries())
    await create(reporterOf(index), { nodeName, ...podWithKubectl(scriptOf(address, index)) });
  let reached: readonly string[] = [];
  await eventually(TIMEOUT, async () => {
    const { items } = await client.list(ConfigMap, { namespace: NAMESPACE, labelSelector: `by=${NAME}` });
    const names = new Set(items.map(({ metadata }) => metadata.name));
    reached = nodes.filter((_, index) => names.has(reporterOf(index)));
    return reached.length === nodes.length;
  }).catch((error: unknown) => console.error(error));
  const logged = nodes.filter((_, index) => hasLog(kubeconfig, reporterOf(index)));
  for (const name of [NAME, ...nodes.map((_, index) => reporterOf(index))])
    await client.delete(Pod, { namespace: NAMESPACE, name });
  await client.delete(Service, { namespace: NAMESPACE, name: NAME });
  return { reached, logged };
}

function hasLog(kubeconfig: string, pod: string): boolean {
  try {
    return kubectl(kubeconfig, "logs", pod, "--request-timeout=30s").includes("reported");
  } catch (error) {
    console.error(error);
    return false;
  }
}
