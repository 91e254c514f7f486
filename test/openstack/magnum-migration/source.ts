/** What the driver's scripts and its operators do in a cluster itself. */
import { isAlreadyExists, Node, type KubernetesClient } from "@causeway/kubernetes";
import { eventually } from "../../support/processes.ts";

const TIMEOUT = 600_000;

/** API servers reach kubelets as user kubernetes, by the certificate that the driver gives them. */
export async function prepareCluster(client: KubernetesClient | undefined): Promise<void> {
  await eventually(TIMEOUT, () => client?.request("GET", "/readyz").then(() => true));
  const body = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "system:kube-apiserver" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:kubelet-api-admin" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "kubernetes" }],
  };
  try {
    await client?.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", { body });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

interface Request {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly signerName: string; readonly username: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string }[]; readonly certificate?: string };
}

const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

/** Approves the certificate that a node's kubelet serves with, and waits for the node to be ready. */
export async function approveServing(client: KubernetesClient, node: string): Promise<void> {
  await eventually(TIMEOUT, async () => {
    const { items } = (await client.request("GET", REQUESTS)) as { items: readonly Request[] };
    const own = items.filter(
      ({ spec }) => spec.signerName === "kubernetes.io/kubelet-serving" && spec.username === `system:node:${node}`,
    );
    for (const request of own) {
      if (request.status?.conditions?.some(({ type }) => type === "Approved")) continue;
      const approved = { type: "Approved", status: "True", reason: "Driver", message: "as the driver's are valid" };
      const body = { ...request, status: { ...request.status, conditions: [approved] } };
      await client.request("PUT", `${REQUESTS}/${request.metadata.name}/approval`, { body });
    }
    return own.some(({ status }) => status?.certificate !== undefined);
  });
  await eventually(TIMEOUT, async () => {
    const found = await client.find(Node, { namespace: "", name: node });
    return found?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  });
}
