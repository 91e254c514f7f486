import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApiServer, type ApiServer } from "../index.ts";
import { rawClient, type Raw } from "../testing/client.ts";
import { apiAddress } from "./api-endpoint.ts";

test.each([
  ["https://192.0.2.10:6443", { ip: "192.0.2.10", family: 4, port: 6443 }],
  ["https://192.0.2.10", { ip: "192.0.2.10", family: 4, port: 443 }],
  ["https://[2001:db8::1]:6443", { ip: "2001:db8::1", family: 6, port: 6443 }],
  ["https://127.0.0.1:6443", undefined],
  ["https://[::1]:6443", undefined],
  ["https://0.0.0.0:6443", undefined],
  ["https://api.example.com:6443", undefined],
  ["https://192.0.2.10:6443/clusters/a", undefined],
])("pods reach an API at %s by the address %j", (url, address) => expect(apiAddress(url)).toEqual(address));

describe("a cluster that is reached at an address of a network", () => {
  const SLICE = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
  const ENDPOINTS = "/api/v1/namespaces/default/endpoints/kubernetes";
  let server: ApiServer;
  let api: Raw;
  let port: number;

  beforeAll(async () => {
    server = await startApiServer({ isolation: "none" });
    const cluster = await server.ensureCluster("demo", { listen: { host: "0.0.0.0", port: 0, names: ["192.0.2.10"] } });
    port = cluster.port ?? 0;
    const kubeconfig: typeof cluster.kubeconfig = async (options) =>
      (await cluster.kubeconfig(options)).replace("192.0.2.10", "127.0.0.1");
    api = await rawClient({ ...cluster, kubeconfig });
  });
  afterAll(() => server.close());

  test("has it as the endpoint of Service kubernetes, in both forms", async () => {
    await expect.poll(async () => (await api.call("GET", SLICE)).code).toBe(200);
    const slice = (await api.call("GET", SLICE)).body;
    expect(slice["endpoints"]).toEqual([{ addresses: ["192.0.2.10"], conditions: { ready: true } }]);
    expect(slice["ports"]).toEqual([{ name: "https", port, protocol: "TCP" }]);
    const endpoints = (await api.call("GET", ENDPOINTS)).body;
    expect(endpoints["subsets"]).toEqual([
      { addresses: [{ ip: "192.0.2.10" }], ports: [{ name: "https", port, protocol: "TCP" }] },
    ]);
  });

  test("makes it again when it is deleted or changed", async () => {
    await api.call("DELETE", SLICE);
    await expect.poll(async () => (await api.call("GET", SLICE)).code).toBe(200);
    const wrong = { subsets: [{ addresses: [{ ip: "192.0.2.99" }], ports: [{ port: 1 }] }] };
    const patched = await api.call("PATCH", ENDPOINTS, wrong, { "content-type": "application/merge-patch+json" });
    expect(patched.code).toBe(200);
    await expect
      .poll(async () => JSON.stringify((await api.call("GET", ENDPOINTS)).body["subsets"]))
      .toContain("192.0.2.10");
  });
});
