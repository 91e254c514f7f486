import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { record, records, text, texts, type Json } from "../json/json.ts";
import { bootstrapRoles } from "./bootstrap-roles.ts";
import type { Manifest } from "./role-manifests.ts";

/** One line for each single thing that a role gives, or for each subject of a binding, and one for the labels. */
function facts(object: Manifest): string[] {
  const { kind, metadata } = object;
  const what = `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
  const { roleRef, aggregationRule } = object as Json;
  const subjects = records(object["subjects"]).map(
    (s) => `${text(s["kind"])} ${text(s["namespace"])}/${text(s["name"])} ${text(s["apiGroup"])}`,
  );
  const reference = record(roleRef);
  return [
    ...records(object["rules"]).flatMap((rule) => given(rule)),
    ...subjects,
    ...(roleRef ? [`of ${text(reference["kind"])} ${text(reference["name"])} ${text(reference["apiGroup"])}`] : []),
    ...(aggregationRule ? [JSON.stringify(aggregationRule)] : []),
    JSON.stringify(Object.entries(metadata.labels ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    text(object.apiVersion),
  ].map((fact) => `${what}: ${fact}`);
}

function given(rule: Json): string[] {
  const names = texts(rule["resourceNames"]);
  return texts(rule["verbs"]).flatMap((verb) => [
    ...texts(rule["nonResourceURLs"]).map((url) => `${verb} ${url}`),
    ...texts(rule["apiGroups"]).flatMap((group) =>
      texts(rule["resources"]).flatMap((resource) =>
        (names.length > 0 ? names : ["all"]).map((name) => `${verb} ${group}/${resource} ${name}`),
      ),
    ),
  ]);
}

function digest(objects: readonly Manifest[]): { objects: number; facts: number; sha256: string } {
  const all = [...new Set(objects.flatMap(facts))].sort();
  return {
    objects: objects.length,
    facts: all.length,
    sha256: createHash("sha256").update(all.join("\n")).digest("hex"),
  };
}

const isKubeadms = ({ metadata }: Manifest): boolean => metadata.name.startsWith("kubeadm:");

test("the roles and bindings of a new cluster are those of kube-apiserver 1.34, in its own test data", () => {
  const own = bootstrapRoles().filter((object) => !isKubeadms(object));
  expect(digest(own)).toEqual({
    objects: 131,
    facts: 1800,
    sha256: "dbb21ac6f5c5773acd85e5246a3212aad3917dd3c15a6ffa56c8626bcaa21ff8",
  });
});

test("roles of kubeadm let machines join, and no more", () => {
  const all = [...new Set(bootstrapRoles().filter(isKubeadms).flatMap(facts))].sort();
  expect(all).toEqual([
    'ClusterRole /kubeadm:get-nodes: [["kubernetes.io/bootstrapping","rbac-defaults"]]',
    "ClusterRole /kubeadm:get-nodes: get /nodes all",
    "ClusterRole /kubeadm:get-nodes: rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding /kubeadm:cluster-admins: Group /kubeadm:cluster-admins rbac.authorization.k8s.io",
    'ClusterRoleBinding /kubeadm:cluster-admins: [["kubernetes.io/bootstrapping","rbac-defaults"]]',
    "ClusterRoleBinding /kubeadm:cluster-admins: of ClusterRole cluster-admin rbac.authorization.k8s.io",
    "ClusterRoleBinding /kubeadm:cluster-admins: rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding /kubeadm:get-nodes: Group /system:bootstrappers:kubeadm:default-node-token rbac.authorization.k8s.io",
    'ClusterRoleBinding /kubeadm:get-nodes: [["kubernetes.io/bootstrapping","rbac-defaults"]]',
    "ClusterRoleBinding /kubeadm:get-nodes: of ClusterRole kubeadm:get-nodes rbac.authorization.k8s.io",
    "ClusterRoleBinding /kubeadm:get-nodes: rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding /kubeadm:kubelet-bootstrap: Group /system:bootstrappers:kubeadm:default-node-token rbac.authorization.k8s.io",
    'ClusterRoleBinding /kubeadm:kubelet-bootstrap: [["kubernetes.io/bootstrapping","rbac-defaults"]]',
    "ClusterRoleBinding /kubeadm:kubelet-bootstrap: of ClusterRole system:node-bootstrapper rbac.authorization.k8s.io",
    "ClusterRoleBinding /kubeadm:kubelet-bootstrap: rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding /kubeadm:node-autoapprove-bootstrap: Group /system:bootstrappers:kubeadm:default-node-token rbac.authorization.k8s.io",
    'ClusterRoleBinding /kubeadm:node-autoapprove-bootstrap: [["kubernetes.io/bootstrapping","rbac-defaults"]]',
    "ClusterRoleBinding /kubeadm:node-autoapprove-bootstrap: of ClusterRole system:certificates.k8s.io:certificatesigningrequests:nodeclient rbac.authorization.k8s.io",
    "ClusterRoleBinding /kubeadm:node-autoapprove-bootstrap: rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding /kubeadm:node-autoapprove-certificate-rotation: Group /system:nodes rbac.authorization.k8s.io",
    'ClusterRoleBinding /kubeadm:node-autoapprove-certificate-rotation: [["kubernetes.io/bootstrapping","rbac-defaults"]]',
    "ClusterRoleBinding /kubeadm:node-autoapprove-certificate-rotation: of ClusterRole system:certificates.k8s.io:certificatesigningrequests:selfnodeclient rbac.authorization.k8s.io",
    "ClusterRoleBinding /kubeadm:node-autoapprove-certificate-rotation: rbac.authorization.k8s.io/v1",
    "Role kube-public/kubeadm:bootstrap-signer-clusterinfo: []",
    "Role kube-public/kubeadm:bootstrap-signer-clusterinfo: get /configmaps cluster-info",
    "Role kube-public/kubeadm:bootstrap-signer-clusterinfo: rbac.authorization.k8s.io/v1",
    "Role kube-system/kubeadm:kubelet-config: []",
    "Role kube-system/kubeadm:kubelet-config: get /configmaps kubelet-config",
    "Role kube-system/kubeadm:kubelet-config: rbac.authorization.k8s.io/v1",
    "Role kube-system/kubeadm:nodes-kubeadm-config: []",
    "Role kube-system/kubeadm:nodes-kubeadm-config: get /configmaps kubeadm-config",
    "Role kube-system/kubeadm:nodes-kubeadm-config: rbac.authorization.k8s.io/v1",
    "RoleBinding kube-public/kubeadm:bootstrap-signer-clusterinfo: User /system:anonymous rbac.authorization.k8s.io",
    "RoleBinding kube-public/kubeadm:bootstrap-signer-clusterinfo: []",
    "RoleBinding kube-public/kubeadm:bootstrap-signer-clusterinfo: of Role kubeadm:bootstrap-signer-clusterinfo rbac.authorization.k8s.io",
    "RoleBinding kube-public/kubeadm:bootstrap-signer-clusterinfo: rbac.authorization.k8s.io/v1",
    "RoleBinding kube-system/kubeadm:kubelet-config: Group /system:bootstrappers:kubeadm:default-node-token rbac.authorization.k8s.io",
    "RoleBinding kube-system/kubeadm:kubelet-config: Group /system:nodes rbac.authorization.k8s.io",
    "RoleBinding kube-system/kubeadm:kubelet-config: []",
    "RoleBinding kube-system/kubeadm:kubelet-config: of Role kubeadm:kubelet-config rbac.authorization.k8s.io",
    "RoleBinding kube-system/kubeadm:kubelet-config: rbac.authorization.k8s.io/v1",
    "RoleBinding kube-system/kubeadm:nodes-kubeadm-config: Group /system:bootstrappers:kubeadm:default-node-token rbac.authorization.k8s.io",
    "RoleBinding kube-system/kubeadm:nodes-kubeadm-config: Group /system:nodes rbac.authorization.k8s.io",
    "RoleBinding kube-system/kubeadm:nodes-kubeadm-config: []",
    "RoleBinding kube-system/kubeadm:nodes-kubeadm-config: of Role kubeadm:nodes-kubeadm-config rbac.authorization.k8s.io",
    "RoleBinding kube-system/kubeadm:nodes-kubeadm-config: rbac.authorization.k8s.io/v1",
  ]);
});
