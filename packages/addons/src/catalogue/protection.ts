import { allowDeletion, labels } from "../manifests/names.ts";
import type { ManifestObject } from "../manifests/parse.ts";

/** The name that the policy's objects have in the status; an add-on of a user has no dot in its name. */
export const protectionName = "protection.addons";

/** Controllers of Kubernetes that delete what a namespace or an owner takes with it. */
const collectors = [
  "system:kube-controller-manager",
  "system:serviceaccount:kube-system:namespace-controller",
  "system:serviceaccount:kube-system:generic-garbage-collector",
];

/**
 * A policy that refuses the deletion of a set's objects: against mistakes, since the cluster's administrators may
 * change it.
 */
export function protection(set: string): ManifestObject[] {
  const name = `addons.causeway.dev-${set}`;
  const group = "admissionregistration.k8s.io/v1";
  const marked = `has(oldObject.metadata.annotations) && "${allowDeletion}" in oldObject.metadata.annotations`;
  return [
    {
      apiVersion: group,
      kind: "ValidatingAdmissionPolicy",
      metadata: { name },
      spec: {
        failurePolicy: "Ignore",
        matchConstraints: {
          objectSelector: { matchLabels: { [labels.set]: set } },
          resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["DELETE"] }],
        },
        validations: [
          {
            expression: `(${marked}) || request.userInfo.username in ${JSON.stringify(collectors)}`,
            message: `this object belongs to the add-ons of the cluster (AddonSet ${set}) and would be created again; give it the annotation ${allowDeletion} to delete it all the same`,
            reason: "Forbidden",
          },
        ],
      },
    },
    {
      apiVersion: group,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name },
      spec: { policyName: name, validationActions: ["Deny"] },
    },
  ];
}
