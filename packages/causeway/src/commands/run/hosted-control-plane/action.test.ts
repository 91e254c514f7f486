import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cluster, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { systemClock } from "@causeway/foundation";
import {
  ConfigMap,
  createClient,
  getCondition,
  loadKubeconfig,
  Namespace,
  ownerReference,
  Pod,
  Secret,
  StatefulSet,
  Service,
  type Condition,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { afterEach, describe, expect, test, vi } from "vitest";
import { parseAllDocuments } from "yaml";
import { hostedControlPlane } from "./action.ts";
import { hostedControlPlaneCommand } from "./command.ts";
import type { HostedControlPlaneFlags } from "./options.ts";
import { settingsOf } from "./settings.ts";

vi.setConfig({ testTimeout: 120_000 });

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const defaults: HostedControlPlaneFlags = {
  ...hostedControlPlaneCommand(new AbortController().signal).opts(),
  logLevel: "silent",
};

async function until<T>(check: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await check().catch(() => undefined);
    if (found !== undefined) return found;
    await systemClock.sleep(20);
  }
}

const account = "system:serviceaccount:causeway-system:hosted-control-plane";
const groups = ["system:serviceaccounts", "system:serviceaccounts:causeway-system"];

/** A cluster, and the kubeconfig file of the ServiceAccount of deploy/. */
async function start(): Promise<{ client: KubernetesClient; kubeconfig: string }> {
  const crds = [Cluster, HostedControlPlane].map((kind) => toCustomResourceDefinition(kind as typeof Cluster));
  const server = await startApiServer({ crds });
  closing.push(() => server.close());
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  closing.push(() => client.close());
  const dir = mkdtempSync(join(tmpdir(), "causeway-run-"));
  closing.push(() => rmSync(dir, { recursive: true }));
  const kubeconfig = join(dir, "kubeconfig");
  writeFileSync(kubeconfig, await server.management.kubeconfig({ commonName: account, organizations: groups }));
  await grant(client);
  return { client, kubeconfig };
}

/** What deploy/hosted-control-plane/rbac.yaml gives to that account. */
async function grant(client: KubernetesClient): Promise<void> {
  const file = join(import.meta.dirname, "../../../../../../deploy/hosted-control-plane/rbac.yaml");
  for (const document of parseAllDocuments(readFileSync(file, "utf8"))) {
    const object = document.toJS() as KubeObject;
    const [group = "", version = ""] = object.apiVersion.includes("/") ? object.apiVersion.split("/") : ["", "v1"];
    const plural = `${object.kind.toLowerCase()}s`;
    const namespaced = object.metadata.namespace !== undefined;
    const type: ResourceType<KubeObject> = { group, version, kind: object.kind, plural, namespaced };
    await client.create(type, object);
  }
}

function run(flags: Partial<HostedControlPlaneFlags>): void {
  const stop = new AbortController();
  const running = hostedControlPlane({ ...defaults, ...flags }, stop.signal);
  closing.push(async () => {
    stop.abort();
    await running;
  });
}

async function create(client: KubernetesClient, name: string): Promise<void> {
  const metadata = { namespace: "default", name };
  const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name };
  const apiVersion = "cluster.x-k8s.io/v1beta2";
  const cluster = await client.create(Cluster, { apiVersion, kind: "Cluster", metadata, spec: { controlPlaneRef } });
  const labels = { "cluster.x-k8s.io/cluster-name": name };
  await client.create(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: { ...metadata, labels, ownerReferences: [ownerReference(cluster, { controller: true })] },
    spec: { version: "v1.33.2", runtime: "Pods", replicas: 2, pods: { datastore: { type: "Own" } } },
  });
}

const selector = { labelSelector: "app.kubernetes.io/managed-by=causeway-hosted-control-plane" };
const networkPolicies: ResourceType<KubeObject> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
};

test("with the rights of deploy/ it brings a control plane up, says who must act, repairs it and deletes it", async () => {
  const { client, kubeconfig } = await start();
  run({ kubeconfig });
  await create(client, "web");
  const key = { namespace: "default", name: "web" };
  const available = async () =>
    getCondition(((await client.get(HostedControlPlane, key)).status?.conditions ?? []) as Condition[], "Available");
  const waiting = await until(async () => {
    const found = await available();
    return found?.reason === "OperatorNeeded" ? found : undefined;
  });
  expect(waiting.message).toMatch(/the operator of the service cluster must act \(PODS_ENDPOINT_PENDING\)/);
  const [namespace] = (await client.list(Namespace, selector)).items.map(({ metadata }) => metadata.name);
  expect(namespace).toMatch(/^hcp-web-[0-9a-f]{10}$/);
  const service = { namespace: namespace ?? "", name: "kube-apiserver" };
  const body = { status: { loadBalancer: { ingress: [{ ip: "203.0.113.7" }] } } };
  await client.patch(Service, service, { type: "merge", body }, { subresource: "status" });
  const etcd = await until(() => client.find(StatefulSet, { ...service, name: "etcd" }));
  expect(etcd.spec.template.spec.containers[0]?.image).toBe("registry.k8s.io/etcd:3.5.21-0");
  await client.delete(networkPolicies, { ...service, name: "default-deny" });
  await until(() => client.find(networkPolicies, { ...service, name: "default-deny" }));
  await client.delete(HostedControlPlane, key);
  await until(async () => ((await client.find(HostedControlPlane, key)) === undefined ? true : undefined));
  expect((await client.list(Namespace, selector)).items).toEqual([]);
});

test("the rights of deploy/ are enough for the record of a move to an own etcd, and for API servers that it ends", async () => {
  const { kubeconfig } = await start();
  const client = createClient(loadKubeconfig({ text: readFileSync(kubeconfig, "utf8") }));
  closing.push(() => client.close());
  const record = { namespace: "default", name: "datastore-migration" };
  const body = { data: { record: "{}" } };
  await client.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata: record, ...body });
  await client.patch(ConfigMap, record, { type: "merge", body });
  // It is read again before data is compared.
  expect(await client.find(ConfigMap, record)).toMatchObject(body);
  await client.delete(ConfigMap, record);
  await client.delete(Pod, { namespace: "default", name: "kube-apiserver-0" });
});

test("the service cluster can be another one, and its kubeconfig must exist", async () => {
  const { client, kubeconfig } = await start();
  const flags = { ...defaults, kubeconfig, leaderElect: "false" as const, serviceKubeconfig: "default/service" };
  const signal = new AbortController().signal;
  await expect(hostedControlPlane(flags, signal)).rejects.toMatchObject({ code: "SERVICE_CLUSTER_UNKNOWN" });
  const crowd = await startApiServer({});
  closing.push(() => crowd.close());
  const value = Buffer.from(await crowd.management.kubeconfig()).toString("base64");
  const metadata = { namespace: "default", name: "service" };
  await client.create(Secret, { apiVersion: "v1", kind: "Secret", metadata, data: { value } });
  run(flags);
  await create(client, "web");
  const there = createClient(loadKubeconfig({ text: await crowd.management.kubeconfig() }));
  closing.push(() => there.close());
  await until(async () => ((await there.list(Namespace, selector)).items.length === 1 ? true : undefined));
  expect((await client.list(Namespace, selector)).items).toEqual([]);
});

describe("flags of the operator", () => {
  test("become settings", () => {
    const flags = {
      versions: "v1.35=3.6.6-0",
      nodeNetworks: "10.6.0.0/16, 10.7.0.0/16",
      oidcNetworks: "192.0.2.0/24",
      auditNetworks: "198.51.100.0/24",
      causewayImage: "causeway:1",
      poolMembers: "1" as const,
      poolStorage: "20Gi",
      poolStorageClass: "fast",
      datastoreMoves: true,
      maxSize: "Medium" as const,
      maxReplicas: "3",
      maxStorage: "20Gi",
      storageClasses: "fast, slow",
      maxControlPlanes: "10",
      maxNamespaceStorage: "1Ti",
      gatewayDomain: "api.example.org",
      gatewayAddress: "203.0.113.9",
      auditLog: "file" as const,
    };
    expect(settingsOf({ ...defaults, ...flags }, "here")).toEqual({
      owner: "here",
      registry: "registry.k8s.io",
      clusterDomain: "cluster.local",
      causewayImage: "causeway:1",
      datastoreMoves: true,
      versions: { "v1.35": { etcd: "3.6.6-0" } },
      nodeNetworks: ["10.6.0.0/16", "10.7.0.0/16"],
      issuerNetworks: ["192.0.2.0/24"],
      auditNetworks: ["198.51.100.0/24"],
      operatorNamespace: "causeway-system",
      pool: { members: 1, storage: "20Gi", storageClassName: "fast" },
      audit: { log: "File" },
      ceilings: {
        size: "Medium",
        replicas: 3,
        storage: "20Gi",
        storageClasses: ["fast", "slow"],
        controlPlanes: 10,
        namespaceStorage: "1Ti",
      },
      gateway: {
        domain: "api.example.org",
        port: 6443,
        address: "203.0.113.9",
        nodeAddress: "198.18.0.1",
        namespace: "causeway-system",
      },
    });
  });

  const webhook = {
    auditWebhookUrl: "https://audit:8443",
    auditWebhookCaFile: import.meta.filename,
    auditWebhookTokenFile: import.meta.filename,
    auditWebhookNamespace: "logs",
  };

  test("of the audit webhook demand a token and the namespace of its pods, which may have a port of their own", () => {
    const folder = mkdtempSync(join(tmpdir(), "audit-"));
    closing.push(() => rmSync(folder, { recursive: true }));
    const token = join(folder, "token");
    writeFileSync(token, "secret\n");
    const flags = { ...webhook, auditWebhookTokenFile: token, auditWebhookPodPort: "9443", auditLog: "none" as const };
    const { audit } = settingsOf({ ...defaults, ...flags }, "here");
    expect(audit).toMatchObject({ log: "None", webhook: { token: "secret", namespace: "logs", podPort: 9443 } });
    for (const missing of ["auditWebhookTokenFile", "auditWebhookNamespace"] as const) {
      const { [missing]: _, ...rest } = flags;
      expect(() => settingsOf({ ...defaults, ...rest }, "here")).toThrowError(/needed with --audit-webhook-url/);
    }
  });

  test.for<[Partial<HostedControlPlaneFlags>, string]>([
    [{ versions: "1.35" }, "FLAG_INVALID"],
    [{ gatewayDomain: "API.example.org" }, "FLAG_INVALID"],
    [{ gatewayDomain: "api.example.org", gatewayPort: "0" }, "FLAG_INVALID"],
    [{ gatewayDomain: "api.example.org", gatewayNodeAddress: "169.254.1.1" }, "FLAG_INVALID"],
    [{ gatewayDomain: "api.example.org", gatewayAddress: "gateway.example.org" }, "FLAG_INVALID"],
    [{ nodeNetworks: "10.6.0.0" }, "FLAG_INVALID"],
    [{ oidcNetworks: "issuer.example.org" }, "FLAG_INVALID"],
    [{ auditNetworks: "sink.example.org" }, "FLAG_INVALID"],
    [{ poolStorage: "much" }, "FLAG_INVALID"],
    [{ maxStorage: "20GB" }, "FLAG_INVALID"],
    [{ maxReplicas: "many" }, "FLAG_INVALID"],
    [{ tunnelUrl: "http://tunnel:8090" }, "FLAG_INVALID"],
    [{ tunnelUrl: "https://tunnel:8090" }, "FLAG_INVALID"],
    [{ tunnelUrl: "https://tunnel:8090", tunnelCaFile: "/does/not/exist" }, "CERTIFICATE_UNREADABLE"],
    [{ auditWebhookUrl: "http://audit" }, "FLAG_INVALID"],
    [{ auditWebhookUrl: "https://user@audit" }, "FLAG_INVALID"],
    [{ auditWebhookUrl: "https://audit" }, "FLAG_INVALID"],
    [{ auditWebhookCaFile: "ca.crt" }, "FLAG_INVALID"],
    [{ ...webhook, auditWebhookCaFile: "/does/not/exist" }, "CERTIFICATE_UNREADABLE"],
    [{ ...webhook, auditWebhookTokenFile: "/does/not/exist" }, "TOKEN_UNREADABLE"],
    [{ ...webhook, auditWebhookTokenFile: import.meta.filename }, "FLAG_INVALID"],
    [{ ...webhook, auditWebhookPodPort: "0" }, "FLAG_INVALID"],
    [{ auditWebhookUrl: "https://audit", auditWebhookCaFile: import.meta.filename }, "FLAG_INVALID"],
    [{ auditWebhookNamespace: "logs" }, "FLAG_INVALID"],
    [{ auditLog: "none" }, "FLAG_INVALID"],
  ])("are refused: %j", ([flags, code]) => {
    expect(() => settingsOf({ ...defaults, ...flags }, "here")).toThrowError(
      expect.objectContaining({ code }) as Error,
    );
  });
});
