/** A Cluster without an infrastructure provider, as a user would apply it. */
import type { Kubectl } from "../kubectl/kubectl.ts";
import { stub } from "./infrastructure.ts";
import { cluster, controlPlaneMachine, machineDeployment } from "./objects.ts";
import type { Json } from "./world.ts";

/**
 * Makes the Cluster "demo" of a control plane at `url`, which the kubeconfig leads to, with two workers; its
 * infrastructure says it is there.
 */
export async function makeDemo(k: Kubectl, { url, kubeconfig }: { url: string; kubeconfig: string }): Promise<void> {
  const { hostname: host, port } = new URL(url);
  const access = { value: base64(kubeconfig) };
  const labels = { "cluster.x-k8s.io/cluster-name": "demo" };
  const secret = (suffix: string, data: Json): Json => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `demo-${suffix}`, labels },
    type: "cluster.x-k8s.io/secret",
    data,
  });
  const all = [
    secret("kubeconfig", access),
    secret("boot", { value: base64("#cloud-config") }),
    stub("StubCluster", "demo"),
    stub("StubMachineTemplate", "demo", { template: { spec: {} } }),
    cluster("demo", { host, port: Number(port) }),
    stub("StubMachine", "demo-control-plane"),
    controlPlaneMachine("demo"),
    machineDeployment("demo", 2),
  ];
  for (const one of all) await k.feed(one, "create", "-f", "-");
  const provisioned = JSON.stringify({ status: { initialization: { provisioned: true } } });
  await k.run("patch", "stubcluster", "demo", "--subresource=status", "--type=merge", "-p", provisioned);
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
