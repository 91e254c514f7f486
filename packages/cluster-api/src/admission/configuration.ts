/** What the webhook is called for, by API group: resources, and whether for deletions. */
const RULES = {
  "cluster.x-k8s.io": ["clusters", "clusterclasses", "machinedeployments", "machinepools", "machinehealthchecks"],
  "controlplane.cluster.x-k8s.io": [
    "kubeadmcontrolplanes",
    "kubeadmcontrolplanes/scale",
    "kubeadmcontrolplanetemplates",
  ],
} as const;

/** How API servers reach the webhook. */
export interface AdmissionClient {
  readonly url?: string;
  readonly service?: { readonly namespace: string; readonly name: string; readonly path: string };
  /** Base64 of PEM. */
  readonly caBundle?: string;
}

/**
 * The webhooks of a ValidatingWebhookConfiguration for the kinds of these API groups; none for groups without rules.
 */
export function admissionWebhooks(groups: readonly string[], client: AdmissionClient): object[] {
  const known = (Object.keys(RULES) as (keyof typeof RULES)[]).filter((group) => groups.includes(group));
  return known.map((group) => ({
    name: `validation.${group}`,
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    timeoutSeconds: 10,
    clientConfig: client,
    // A finalizer or a label changes nothing that the rules read.
    matchConditions: [{ name: "spec", expression: "request.operation != 'UPDATE' || object.spec != oldObject.spec" }],
    rules: [
      {
        apiGroups: [group],
        apiVersions: ["v1beta2"],
        operations: ["CREATE", "UPDATE"],
        resources: [...RULES[group]],
        scope: "Namespaced",
      },
      ...(group === "cluster.x-k8s.io"
        ? [
            {
              apiGroups: [group],
              apiVersions: ["v1beta2"],
              operations: ["DELETE"],
              resources: ["clusterclasses"],
              scope: "Namespaced",
            },
          ]
        : []),
    ],
  }));
}
