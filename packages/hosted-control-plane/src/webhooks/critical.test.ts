import { describe, expect, test } from "vitest";
import { criticalRequests, intercepts, type Webhook, type WebhookRule } from "./critical.ts";

const everything: WebhookRule = {
  apiGroups: ["*"],
  apiVersions: ["*"],
  resources: ["*/*"],
  operations: ["*"],
  scope: "*",
};
const namespaces = new Map([
  ["kube-system", { "kubernetes.io/metadata.name": "kube-system" }],
  ["kube-node-lease", { "kubernetes.io/metadata.name": "kube-node-lease", tier: "nodes" }],
]);

function intercepted(rule: Partial<WebhookRule>, more: Partial<Webhook> = {}): string[] {
  const webhook: Webhook = {
    configuration: { kind: "ValidatingWebhookConfiguration", name: "w" },
    name: "w.example.com",
    rules: [{ ...everything, ...rule }],
    namespaceSelector: undefined,
    objectSelector: undefined,
    ...more,
  };
  return criticalRequests
    .filter((request) => intercepts(webhook, request, namespaces))
    .map(({ resource, operation }) => `${operation} ${resource}`);
}

describe("a webhook that could stop a control plane is called for", () => {
  test.for<[title: string, rule: Partial<WebhookRule>, more: Partial<Webhook>, requests: string[]]>([
    [
      "everything",
      {},
      {},
      [
        "CREATE leases",
        "UPDATE leases",
        "CREATE nodes",
        "UPDATE nodes/status",
        "CREATE pods",
        "UPDATE configmaps",
        "DELETE configmaps",
      ],
    ],
    ["no subresource with *", { resources: ["*"], operations: ["UPDATE"] }, {}, ["UPDATE leases", "UPDATE configmaps"]],
    ["what is below a resource", { resources: ["nodes/*"], operations: ["UPDATE"] }, {}, ["UPDATE nodes/status"]],
    ["the status of all", { resources: ["*/status"] }, {}, ["UPDATE nodes/status"]],
    ["a resource with all that is below it", { resources: ["pods/*", "pods"] }, {}, ["CREATE pods"]],
    ["another group", { apiGroups: ["apps"] }, {}, []],
    ["another version", { apiVersions: ["v1beta1"] }, {}, []],
    ["objects of the cluster", { scope: "Cluster" }, {}, ["CREATE nodes", "UPDATE nodes/status"]],
    [
      "namespaces that it selects",
      { operations: ["CREATE"], scope: "Namespaced" },
      { namespaceSelector: { matchLabels: { tier: "nodes" } } },
      ["CREATE leases"],
    ],
    [
      "nothing of the namespaces that it exempts",
      { scope: "Namespaced" },
      {
        namespaceSelector: {
          matchExpressions: [
            { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", "kube-node-lease"] },
          ],
        },
      },
      [],
    ],
    ["labelled objects only", {}, { objectSelector: { matchLabels: { app: "web" } } }, []],
  ])("%s", ([, rule, more, requests]) => {
    expect(intercepted(rule, more)).toEqual(requests);
  });
});
