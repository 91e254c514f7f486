import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import {
  allKinds,
  Cluster,
  conversionsOf,
  Machine,
  toCustomResourceDefinition,
  withConversionWebhook,
} from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { createAuthority, issueCertificate, silentLog } from "@causeway/foundation";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { afterEach, describe, expect, test } from "vitest";
import { CONVERT_PATH, serveConversion } from "./conversion.ts";

const day = 86_400_000;
const kinds = [Cluster, Machine];
const cluster = {
  apiVersion: "cluster.x-k8s.io/v1beta1",
  kind: "Cluster",
  metadata: { name: "web", namespace: "default" },
  spec: {
    clusterNetwork: { pods: { cidrBlocks: ["192.168.0.0/16"] } },
    controlPlaneRef: {
      apiVersion: "controlplane.cluster.x-k8s.io/v1beta1",
      kind: "KubeadmControlPlane",
      name: "web",
      namespace: "default",
    },
    infrastructureRef: {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
      kind: "OpenStackCluster",
      name: "web",
    },
  },
};
const machine = {
  apiVersion: "cluster.x-k8s.io/v1beta1",
  kind: "Machine",
  metadata: { name: "web-0", namespace: "default" },
  spec: {
    clusterName: "web",
    bootstrap: { dataSecretName: "web-0" },
    infrastructureRef: {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
      kind: "OpenStackMachine",
      name: "web-0",
    },
    nodeDrainTimeout: "1h30m0s",
  },
};

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function connect(server: ApiServer): Promise<KubernetesClient> {
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  closing.push(() => client.close());
  return client;
}

async function serve() {
  const authority = await createAuthority({ commonName: "webhook-ca", lifetime: day });
  const certificate = await issueCertificate(authority, {
    commonName: "webhook",
    dnsNames: ["localhost"],
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    lifetime: day,
  });
  const webhook = await serveConversion({ kinds, address: "127.0.0.1", port: 0, certificate, log: silentLog });
  closing.push(() => webhook.close());
  return { authority, url: `https://127.0.0.1:${webhook.port}${CONVERT_PATH}` };
}

/** As another cluster's API server that calls our webhook over TLS. */
async function throughWebhook(): Promise<ApiServer> {
  const { authority, url } = await serve();
  const caBundle = Buffer.from(authority.certificate).toString("base64");
  const crds = kinds.map((kind) => withConversionWebhook(toCustomResourceDefinition(kind), { url, caBundle }));
  const server = await startApiServer({ crds });
  closing.push(() => server.close());
  return server;
}

async function inProcess(): Promise<ApiServer> {
  const crds = allKinds.map(toCustomResourceDefinition);
  const server = await startApiServer({ crds, conversions: conversionsOf(allKinds) });
  closing.push(() => server.close());
  return server;
}

describe.each([
  ["the webhook of another API server", throughWebhook],
  ["the API server of this process", inProcess],
])("conversion by %s", (_, start) => {
  test("stores objects of v1beta1 as v1beta2 and shows what was written", async () => {
    const client = await connect(await start());
    const base = (version: string, plural: string) => `/apis/cluster.x-k8s.io/${version}/namespaces/default/${plural}`;
    await client.request("POST", base("v1beta1", "clusters"), { body: cluster });
    await client.request("POST", base("v1beta1", "machines"), { body: machine });
    expect(await client.request("GET", `${base("v1beta2", "clusters")}/web`)).toMatchObject({
      apiVersion: "cluster.x-k8s.io/v1beta2",
      spec: {
        controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "KubeadmControlPlane", name: "web" },
        infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackCluster", name: "web" },
      },
    });
    expect(await client.request("GET", `${base("v1beta2", "machines")}/web-0`)).toMatchObject({
      spec: { deletion: { nodeDrainTimeoutSeconds: 5400 } },
    });
    expect(await client.request("GET", `${base("v1beta1", "machines")}/web-0`)).toMatchObject(machine);
    expect(await client.request("GET", `${base("v1beta1", "clusters")}/web`)).toMatchObject(cluster);
  });

  test("keeps what v1beta1 cannot say while a client of v1beta1 changes the object", async () => {
    const client = await connect(await start());
    const key = { namespace: "default", name: "web-0" };
    const { nodeDrainTimeout: _, ...spec } = machine.spec;
    await client.create(Machine, {
      ...machine,
      apiVersion: "cluster.x-k8s.io/v1beta2",
      spec: {
        ...spec,
        minReadySeconds: 7,
        infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackMachine", name: "web-0" },
      },
    } as Machine);
    const path = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machines/web-0";
    const shown = (await client.request("GET", path)) as typeof machine & {
      metadata: { annotations: Record<string, string> };
    };
    expect(Object.keys(shown.metadata.annotations)).toEqual(["cluster.x-k8s.io/conversion-data"]);
    await client.request("PUT", path, {
      body: { ...shown, spec: { ...shown.spec, version: "v1.34.0" } },
    });
    const stored = await client.get(Machine, key);
    expect(stored.spec).toMatchObject({ minReadySeconds: 7, version: "v1.34.0" });
    expect(stored.metadata.annotations).toBeUndefined();
  });
});

test("a connection is kept for longer than API servers keep it, which send no review twice", async () => {
  const { authority, url } = await serve();
  const agent = new Agent({ keepAlive: true, ca: authority.certificate });
  closing.push(() => Promise.resolve(agent.destroy()));
  const [response] = (await once(request(url, { agent }).end(), "response")) as [IncomingMessage];
  response.resume();
  const [, seconds] = /^timeout=(\d+)$/.exec(String(response.headers["keep-alive"])) ?? [];
  expect(Number(seconds)).toBeGreaterThan(90);
});
