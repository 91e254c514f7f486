import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Cluster,
  MachineDeployment,
  OpenStackCluster,
  toCustomResourceDefinition,
  withConversionWebhook,
} from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { systemClock } from "@causeway/foundation";
import { createClient, CustomResourceDefinition, Lease, loadKubeconfig } from "@causeway/kubernetes";
import { afterEach, expect, test } from "vitest";
import { runClusterApi } from "./action.ts";
import { contractKinds } from "./contract-kinds.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function versioned<T extends { readonly spec: object }>(template: T, version: string): T {
  return { ...template, spec: { ...template.spec, version } };
}

async function until<T>(check: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await check().catch(() => undefined);
    if (found !== undefined) return found;
    await systemClock.sleep(20);
  }
}

test(
  "a cluster gets CRDs, conversion in place of a release's and controllers, and providers as they come",
  { timeout: 120_000 },
  async () => {
    const server = await startApiServer({});
    closing.push(() => server.close());
    const text = await server.management.kubeconfig();
    const dir = mkdtempSync(join(tmpdir(), "causeway-run-"));
    closing.push(() => rmSync(dir, { recursive: true }));
    const kubeconfig = join(dir, "kubeconfig");
    writeFileSync(kubeconfig, text);
    const client = createClient(loadKubeconfig({ text }));
    closing.push(() => client.close());
    // As a release's manifests have installed it, whose manager was scaled down.
    const service = { namespace: "capi-system", name: "capi-webhook-service", path: "/convert" };
    const released = withConversionWebhook(toCustomResourceDefinition(MachineDeployment), { service } as never);
    const injected = "cert-manager.io/inject-ca-from";
    await client.create(CustomResourceDefinition, {
      ...(released as unknown as CustomResourceDefinition),
      metadata: { ...released.metadata, annotations: { [injected]: "capi-system/capi-serving-cert", mine: "kept" } },
    } as CustomResourceDefinition);
    const stop = new AbortController();
    const running = runClusterApi(
      {
        kubeconfig,
        providers: "core,bootstrap",
        installCrds: true,
        webhookHost: "127.0.0.1",
        webhookPort: "0",
        leaderElect: "true",
        bindAddress: "127.0.0.1",
        diagnosticsPort: "0",
        logLevel: "silent",
      },
      stop.signal,
    );
    closing.push(async () => {
      stop.abort();
      await running;
    });

    const template = {
      spec: {
        clusterName: "web",
        version: "v1.34.0",
        bootstrap: { dataSecretName: "data" },
        infrastructureRef: {
          apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
          kind: "OpenStackMachineTemplate",
          name: "web",
        },
      },
    };
    const spec = {
      clusterName: "web",
      replicas: 0,
      selector: { matchLabels: {} },
      template,
      rolloutAfter: "2026-01-01T00:00:00Z",
    };
    const body = { apiVersion: "cluster.x-k8s.io/v1beta1", kind: "MachineDeployment", metadata: { name: "web" }, spec };
    const path = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machinedeployments";
    const reference = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackCluster", name: "web" };
    const cluster = {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata: { name: "web", namespace: "default" },
    };
    await until(() => client.create(Cluster, { ...cluster, spec: { infrastructureRef: reference } }));
    await until(() => client.request("POST", path, { body }));
    const key = { namespace: "default", name: "web" };
    const worked = await until(async () => {
      const found = await client.get(MachineDeployment, key);
      return found.metadata.finalizers?.length && found.status?.conditions ? found : undefined;
    });
    expect(worked.spec).toMatchObject({ rollout: { after: "2026-01-01T00:00:00Z" } });
    // Or cert-manager would replace the authority by that of the release's webhook.
    const { metadata } = await client.get(CustomResourceDefinition, { namespace: "", name: released.metadata.name });
    expect(metadata.annotations).toMatchObject({ mine: "kept" });
    expect(metadata.annotations).not.toHaveProperty([injected]);
    const unprefixed = {
      ...body,
      metadata: { name: "plain" },
      spec: { ...spec, template: versioned(template, "1.34.0") },
    };
    const stored = await client.request("POST", path, { body: unprefixed });
    expect(stored).toMatchObject({ spec: { template: { spec: { version: "v1.34.0" } } } });
    const refused = { ...body, metadata: { name: "bad" }, spec: { ...spec, template: versioned(template, "newest") } };
    await expect(client.request("POST", path, { body: refused })).rejects.toThrow(
      /"newest" is not a version of Kubernetes/,
    );
    const lease = await client.get(Lease, { namespace: "kube-system", name: "controller-leader-election-capi" });
    expect(lease.spec?.holderIdentity).toBeTruthy();

    const infrastructure = toCustomResourceDefinition(OpenStackCluster) as unknown as CustomResourceDefinition;
    await client.create(CustomResourceDefinition, infrastructure);
    const object = {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "OpenStackCluster",
      metadata: { name: "web", namespace: "default" },
      spec: { identityRef: { name: "cloud", cloudName: "openstack" } },
    } as OpenStackCluster;
    await until(() => client.create(OpenStackCluster, object));
    const owned = await until(async () => {
      const found = await client.get(OpenStackCluster, key);
      return found.metadata.ownerReferences ? found : undefined;
    });
    expect(owned.metadata.ownerReferences?.[0]).toMatchObject({ kind: "Cluster", name: "web" });
  },
);

test("a contract kind has the last served version that its CRD's label lists", () => {
  const crd = toCustomResourceDefinition(Cluster) as unknown as CustomResourceDefinition;
  const labelled = (value: string) => ({
    ...crd,
    metadata: { ...crd.metadata, labels: { "cluster.x-k8s.io/v1beta2": value } },
  });
  const versions = ["v1beta2", "v1beta1_v1beta2", "v1beta2_v1beta1", "v1beta2_v9", "v9"].map(
    (value) => contractKinds([labelled(value)])[0]?.version,
  );
  expect(versions).toEqual(["v1beta2", "v1beta2", "v1beta1", "v1beta2", undefined]);
});
