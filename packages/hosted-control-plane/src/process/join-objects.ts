import { issueCertificate, splitCertificates } from "@causeway/foundation";
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  createClient,
  Role,
  RoleBinding,
  isAlreadyExists,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { stringify } from "yaml";
import { trustedBy, type ControlPlaneSpec } from "../runtime.ts";

const group = "rbac.authorization.k8s.io";
const tokens = "system:bootstrappers:kubeadm:default-node-token";

/**
 * Creates what `kubeadm init` leaves behind for machines that join. What exists is not changed: the tenant may have.
 */
export async function createJoinObjects(
  spec: ControlPlaneSpec,
  { server, host, port }: { server: string; host: string; port: number },
  signal: AbortSignal,
): Promise<void> {
  const admin = { commonName: "causeway-bootstrap", organizations: ["system:masters"] };
  const { certificate, key } = await issueCertificate(spec.authority, {
    ...admin,
    usages: ["client"],
    lifetime: 3600_000,
  });
  const url = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const client = createClient({
    server: url,
    ca: trustedBy(spec),
    tlsServerName: "kubernetes",
    certificate,
    key,
  });
  try {
    for (const [type, object] of joinObjects(server, trustedBy(spec)))
      await createMissing(client, type, object, signal);
    await renewClusterInfo(client, trustedBy(spec), signal);
  } finally {
    await client.close();
  }
}

async function createMissing(
  client: KubernetesClient,
  type: ResourceType<KubeObject>,
  object: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create(type, object, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** After roots were rotated. A kubeconfig with none of them is the tenant's, and remains. */
async function renewClusterInfo(client: KubernetesClient, roots: string, signal: AbortSignal): Promise<void> {
  const found = await client.find(ConfigMap, { namespace: "kube-public", name: "cluster-info" }, { signal });
  const kubeconfig = found?.data?.["kubeconfig"];
  const [, data] = /certificate-authority-data:\s*["']?([A-Za-z0-9+/=]+)/.exec(kubeconfig ?? "") ?? [];
  if (found === undefined || kubeconfig === undefined || data === undefined) return;
  const ours = splitCertificates(roots);
  const published = splitCertificates(Buffer.from(data, "base64").toString());
  const isCurrent = published.join("") === ours.join("");
  if (isCurrent || !published.some((each) => ours.includes(each))) return;
  const renewed = kubeconfig.replace(data, () => Buffer.from(roots).toString("base64"));
  await client.update(ConfigMap, { ...found, data: { ...found.data, kubeconfig: renewed } }, { signal });
}

function joinObjects(server: string, ca: string): [ResourceType<KubeObject>, KubeObject][] {
  const info = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "", cluster: { server, "certificate-authority-data": Buffer.from(ca).toString("base64") } }],
    contexts: null,
    "current-context": "",
    preferences: {},
    users: null,
  };
  const infoRole = { name: "kubeadm:bootstrap-signer-clusterinfo", namespace: "kube-public" };
  const object = (
    type: ResourceType<KubeObject>,
    version: string,
    rest: object,
  ): [ResourceType<KubeObject>, KubeObject] => [type, { apiVersion: version, kind: type.kind, ...rest } as KubeObject];
  const binding = (name: string, role: string, subject: string) =>
    object(ClusterRoleBinding as ResourceType<KubeObject>, `${group}/v1`, {
      metadata: { name },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: role },
      subjects: [{ apiGroup: group, kind: "Group", name: subject }],
    });
  const csr = "system:certificates.k8s.io:certificatesigningrequests";
  return [
    object(ConfigMap as ResourceType<KubeObject>, "v1", {
      metadata: { name: "cluster-info", namespace: "kube-public" },
      data: { kubeconfig: stringify(info) },
    }),
    object(Role as ResourceType<KubeObject>, `${group}/v1`, {
      metadata: infoRole,
      rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["cluster-info"], verbs: ["get"] }],
    }),
    object(RoleBinding as ResourceType<KubeObject>, `${group}/v1`, {
      metadata: infoRole,
      roleRef: { apiGroup: group, kind: "Role", name: infoRole.name },
      subjects: [{ apiGroup: group, kind: "User", name: "system:anonymous" }],
    }),
    object(ClusterRole as ResourceType<KubeObject>, `${group}/v1`, {
      metadata: { name: "kubeadm:get-nodes" },
      rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["get"] }],
    }),
    binding("kubeadm:get-nodes", "kubeadm:get-nodes", tokens),
    binding("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", tokens),
    binding("kubeadm:node-autoapprove-bootstrap", `${csr}:nodeclient`, tokens),
    binding("kubeadm:node-autoapprove-certificate-rotation", `${csr}:selfnodeclient`, "system:nodes"),
    binding("kubeadm:cluster-admins", "cluster-admin", "kubeadm:cluster-admins"),
  ];
}
