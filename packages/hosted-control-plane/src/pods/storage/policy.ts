import { randomUUID } from "node:crypto";
import { POLICY_NAME } from "../../etcd/permissions.ts";
import { mebibytes, type StorageRecord } from "./records.ts";

/** What the users of the control plane read when a write is refused. */
export function refusalText({ bytes, budget }: StorageRecord): string {
  return `this cluster stores ${mebibytes(bytes)}, and its budget in the shared etcd is ${mebibytes(budget)}: delete objects, or have spec.limits.bytes of its HostedControlPlane raised (PODS_STORAGE_EXCEEDED)`;
}

/**
 * The policy and its binding as kube-apiserver stores them. They are written into etcd: the control plane's own API
 * could not keep its users from deleting them. Objects can be deleted, and those that are being deleted can change;
 * what is not stored, what nodes report and what routes Services is not refused.
 */
export function policyObjects(record: StorageRecord, now: number): readonly [policy: object, binding: object] {
  const apiVersion = "admissionregistration.k8s.io/v1";
  const metadata = () => ({
    name: POLICY_NAME,
    uid: randomUUID(),
    generation: 1,
    creationTimestamp: `${new Date(now).toISOString().slice(0, 19)}Z`,
  });
  const rule = (apiGroups: string[], resources: string[], operations = ["CREATE", "UPDATE"]) => ({
    apiGroups,
    apiVersions: ["*"],
    operations,
    resources,
    scope: "*",
  });
  const policy = {
    apiVersion,
    kind: "ValidatingAdmissionPolicy",
    metadata: metadata(),
    spec: {
      failurePolicy: "Fail",
      matchConstraints: {
        matchPolicy: "Equivalent",
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [rule(["*"], ["*/*"])],
        excludeResourceRules: [
          rule(["*"], ["*/status", "*/scale", "*/finalize", "*/approval"]),
          rule([""], ["pods/binding", "pods/eviction", "bindings", "serviceaccounts/token", "endpoints"]),
          rule(["discovery.k8s.io"], ["endpointslices"]),
          // Dead nodes are tainted and recovered ones are not any more; kubelets renew their certificates.
          rule([""], ["nodes"], ["UPDATE"]),
          rule(["certificates.k8s.io"], ["certificatesigningrequests"], ["CREATE"]),
          rule(["coordination.k8s.io"], ["leases"]),
          rule(["authentication.k8s.io", "authorization.k8s.io"], ["*/*"]),
        ],
      },
      matchConditions: [
        {
          name: "not-being-deleted",
          expression: "request.operation != 'UPDATE' || !has(oldObject.metadata.deletionTimestamp)",
        },
      ],
      validations: [{ expression: "false", message: refusalText(record), reason: "Forbidden" }],
    },
  };
  const binding = {
    apiVersion,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: metadata(),
    spec: { policyName: POLICY_NAME, validationActions: ["Deny"] },
  };
  return [policy, binding];
}
