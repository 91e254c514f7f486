import { expect, test } from "vitest";
import type { AdmissionRules } from "@causeway/kubernetes";
import type { Admitted } from "../contract/cluster-metrics.ts";
import { define } from "../contract/define.ts";
import { admissionCluster, attemptOn } from "../testing/attempts.ts";
import { openAdmission } from "./open.ts";

const NODES = define({ kind: "Node", plural: "nodes", clusterScoped: true });
const SIGNING_REQUESTS = define({
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  group: "certificates.k8s.io",
  clusterScoped: true,
});
const ALL = { matchConstraints: { resourceRules: [] } };
const RULES = [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] }];
const GROUP = "admissionregistration.k8s.io";
const node = { metadata: { name: "n" }, spec: {} };

/** The plugins that are called about a kubelet's node, in order, and how often the chain was made. */
async function asked(rules: readonly AdmissionRules[]): Promise<{ names: string[]; made: number }> {
  const seen: Admitted[] = [];
  const webhooks = { call: () => Promise.reject(new Error("down")), close: () => {} };
  const webhook = {
    name: "w",
    rules: RULES,
    failurePolicy: "Ignore",
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
  const constraints = { spec: { matchConstraints: { resourceRules: RULES } } };
  const cluster = await admissionCluster(
    {
      [`${GROUP}/mutatingwebhookconfigurations`]: [{ metadata: { name: "m" }, webhooks: [webhook] }],
      [`${GROUP}/validatingwebhookconfigurations`]: [{ metadata: { name: "v" }, webhooks: [webhook] }],
      [`${GROUP}/validatingadmissionpolicies`]: [{ metadata: { name: "p" }, ...constraints }],
      [`${GROUP}/validatingadmissionpolicybindings`]: [{ metadata: { name: "b" }, spec: { policyName: "p", ...ALL } }],
      "/resourcequotas": [{ metadata: { name: "q", namespace: "" } }],
    },
    {
      more: {
        rules,
        webhooks,
        metrics: { admitted: (one: Admitted) => void seen.push(one) } as never,
        log: { warn: () => {} } as never,
      },
    },
  );
  let made = 0;
  const admission = openAdmission(() => {
    made += 1;
    return cluster;
  });
  expect(made).toBe(0);
  const user = { name: "system:node:n", groups: ["system:nodes"] };
  const { attempt } = attemptOn(cluster, NODES, { user, object: node, name: "n" });
  expect(admission.concerns(attempt.call, "CREATE", "mutate")).toBe(true);
  expect(await admission.mutate(attempt)).toEqual(node);
  await admission.validate(attempt);
  const csr = { metadata: { name: "c" }, spec: { signerName: "x.io/y" } };
  const signing = attemptOn(cluster, SIGNING_REQUESTS, { object: csr }).attempt;
  const before = seen.length;
  expect(admission.concerns(signing.call, "CREATE", "validate")).toBe(true);
  await admission.validate(signing);
  expect(seen[before]).toMatchObject({ name: "CertificateApproval", type: "validate" });
  seen.length = before;
  return { names: seen.map(({ type, name }) => `${type} ${name}`), made };
}

test("the plugins are called in kube-apiserver's order, under its names", async () => {
  const ORDER = ["admit NodeRestriction", "admit MutatingAdmissionWebhook"];
  const VALIDATE = [
    "validate ValidatingAdmissionPolicy",
    "validate ValidatingAdmissionWebhook",
    "validate ResourceQuota",
  ];
  expect(await asked([])).toEqual({ names: [...ORDER, ...VALIDATE], made: 1 });
});

test("rules of this process come before policies", async () => {
  const writes = { "": ["nodes"] };
  const refusals = () => Promise.resolve([]);
  const { names } = await asked([
    { version: "v1", writes, deletions: {}, refusals, defaults: { writes, of: () => [] } },
  ]);
  expect(names.filter((n) => /OwnRules|Policy/.test(n))).toEqual([
    "admit OwnRules",
    "validate OwnRules",
    "validate ValidatingAdmissionPolicy",
  ]);
});
