import type { KubeObject, Secret } from "@causeway/kubernetes";
import fc from "fast-check";
import { expect, test } from "vitest";
import { networkPolicies } from "./objects/network.ts";
import { workload } from "./rollout.ts";
import { managedBy, managedByLabel, namespaceOf } from "./tenant.ts";
import { PlayedCluster, SECRET } from "./testing/played-cluster.ts";
import { poolOf, specOf } from "./testing/spec.ts";

const anySpec = fc.record({
  version: fc.constantFrom("v1.32.0", "v1.33.2", "v1.34.4"),
  replicas: fc.integer({ min: 0, max: 5 }),
  members: fc.constantFrom(1, 3),
  size: fc.constantFrom("Small" as const, "Medium" as const, "Large" as const),
  exposure: fc.constantFrom("LoadBalancer" as const, "NodePort" as const, "Gateway" as const),
  hasCloud: fc.boolean(),
  pooled: fc.boolean(),
  hasTunnel: fc.boolean(),
  auditLog: fc.constantFrom("Stdout" as const, "File" as const, "None" as const),
  hasAuditWebhook: fc.boolean(),
  podCidr: fc.option(fc.constant("10.244.0.0/16"), { nil: undefined }),
});

function checkObject(object: KubeObject, namespace: string): void {
  const text = JSON.stringify(object);
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain("PRIVATE KEY");
  expect(object.metadata.labels?.[managedByLabel]).toBe(managedBy);
  if (object.kind === "Namespace") return;
  expect(object.metadata.namespace).toBe(namespace);
  const pod = workload(object.kind === "Deployment" || object.kind === "StatefulSet" ? object : undefined);
  for (const container of pod?.spec.template.spec.containers ?? []) {
    expect(container["securityContext"]).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(container.resources?.limits?.["memory"]).toBeDefined();
    expect(container["readinessProbe"]).toBeDefined();
  }
  const spread = (pod?.spec.template.spec["topologySpreadConstraints"] ?? []) as readonly object[];
  if (pod !== undefined) expect(spread).toHaveLength(2);
  // A rollout of a Deployment has old and new pods at once: only the new ones are spread.
  for (const each of spread) expect("matchLabelKeys" in each).toBe(object.kind === "Deployment");
}

test("each object of a control plane as pods is labelled, restricted and in the namespace, and no secret is outside of Secrets", () => {
  fc.assert(
    fc.property(
      anySpec,
      ({ pooled, members, size, exposure, hasCloud, hasTunnel, podCidr, auditLog, hasAuditWebhook, ...rest }) => {
        const webhook = {
          url: "https://audit:8443",
          certificateAuthority: "CERTIFICATE",
          token: SECRET,
          namespace: "logs",
        };
        const audit = { log: auditLog, ...(hasAuditWebhook ? { webhook } : {}) };
        const tunnel = { url: "https://tunnel:8090", certificateAuthority: "CERTIFICATE", namespace: "tunnels" };
        const gateway = { domain: "api.example.org", port: 443, nodeAddress: "198.18.0.1", namespace: "gateways" };
        const cluster = new PlayedCluster({ gateway, audit, ...(hasTunnel ? { tunnel } : {}) });
        if (pooled) cluster.pool = poolOf();
        cluster.cloudConfig = hasCloud ? SECRET : undefined;
        const spec = specOf({
          ...rest,
          ...(podCidr === undefined ? {} : { podCidr }),
          endpoint: { host: exposure === "NodePort" ? "10.6.0.1" : "", port: 0 },
          pods: {
            size,
            exposure,
            datastore: pooled ? { type: "Pooled" } : { type: "Own", members },
            ...(hasCloud ? { cloudConfigSecret: "cloud" } : {}),
          },
        });
        cluster.complete(spec);
        const namespace = namespaceOf("management", spec.id);
        for (const object of cluster.written.filter(({ kind }) => kind !== "Secret")) checkObject(object, namespace);
        const secrets = [...cluster.live.values()].filter(({ kind }) => kind === "Secret") as Secret[];
        const mounted = [...cluster.live.values()].flatMap((object) =>
          (workload(object)?.spec?.template?.spec.volumes ?? []).flatMap(
            ({ secret }) => (secret as { secretName?: string } | undefined)?.secretName ?? [],
          ),
        );
        // The root of etcd's certificates and the copies of keys are mounted nowhere.
        const names = secrets
          .map(({ metadata }) => metadata.name)
          .filter((name) => name !== "etcd-ca" && !name.endsWith("-copy"));
        expect(new Set(mounted)).toEqual(new Set(names));
        cluster.performed.splice(0);
        cluster.settle(spec);
        expect(cluster.performed).toEqual([]);
      },
    ),
    { numRuns: 12 },
  );
});

test.for<[title: string, podPort: number | undefined, port: number]>([
  ["the port of the URL", undefined, 8443],
  ["the port of its pods, where that is another one", 9443, 9443],
])("API servers may connect to the namespace of the audit webhook at %s", ([, podPort, port]) => {
  const webhook = { url: "https://audit:8443", certificateAuthority: "CERTIFICATE", token: SECRET, namespace: "logs" };
  const audit = { log: "None" as const, webhook: { ...webhook, ...(podPort === undefined ? {} : { podPort }) } };
  const policies = networkPolicies(specOf(), "hcp-web", { owner: "management", audit });
  const rules = policies.find(({ metadata }) => metadata.name === "kube-apiserver")?.spec.egress ?? [];
  const logs = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "logs" } } };
  expect(rules.filter(({ to }) => JSON.stringify(to) === JSON.stringify([logs]))).toEqual([
    { to: [logs], ports: [{ port, protocol: "TCP" }] },
  ]);
});
