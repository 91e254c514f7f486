/** What `kubeadm init` leaves in a cluster for machines that join. */
export function joinObjects(server: string, authority: string): readonly object[] {
  const rbac = "rbac.authorization.k8s.io";
  const info = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "", cluster: { server, "certificate-authority-data": Buffer.from(authority).toString("base64") } },
    ],
  };
  const role = { name: "kubeadm:bootstrap-signer-clusterinfo", namespace: "kube-public" };
  const bind = (name: string, to: string, group: string): object => ({
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: to },
    subjects: [{ apiGroup: rbac, kind: "Group", name: group }],
  });
  const joining = "system:bootstrappers:kubeadm:default-node-token";
  const approves = "system:certificates.k8s.io:certificatesigningrequests";
  return [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "cluster-info", namespace: "kube-public" },
      data: { kubeconfig: JSON.stringify(info) },
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: "Role",
      metadata: role,
      rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["cluster-info"], verbs: ["get"] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata: role,
      roleRef: { apiGroup: rbac, kind: "Role", name: role.name },
      subjects: [{ apiGroup: rbac, kind: "User", name: "system:anonymous" }],
    },
    bind("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", joining),
    bind("kubeadm:node-autoapprove-bootstrap", `${approves}:nodeclient`, joining),
    bind("kubeadm:node-autoapprove-certificate-rotation", `${approves}:selfnodeclient`, "system:nodes"),
  ];
}
