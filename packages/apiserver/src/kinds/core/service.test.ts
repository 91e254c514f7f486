import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiServer } from "../../interface.ts";
import { at, type Json } from "../../json/json.ts";
import { startApiServer } from "../../start.ts";
import { rawClient, type Raw } from "../../testing/client.ts";

const SERVICES = "/api/v1/namespaces/default/services";
let server: ApiServer;
let api: Raw;

beforeAll(async () => {
  server = await startApiServer();
  api = await rawClient(await server.ensureCluster("demo", { serviceCidr: "10.0.0.0/29" }));
});
afterAll(async () => {
  api.close();
  await server.close();
});

const service = (name: string, spec: Json): Json => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
});

describe("a Service", () => {
  test("has an address of the network, which another may not take while it lives", async () => {
    const made = await api.call("POST", SERVICES, service("one", {}));
    expect(made.body["spec"]).toMatchObject({
      type: "ClusterIP",
      ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
    });
    const clusterIP = String(at(made.body, "spec", "clusterIP"));
    expect(clusterIP).toMatch(/^10\.0\.0\.[2-6]$/);
    const clash = await api.call("POST", SERVICES, service("two", { clusterIP }));
    expect(clash.body).toMatchObject({ code: 422, reason: "Invalid" });
    expect(clash.body["message"]).toContain("provided IP is already allocated");
    await api.call("DELETE", `${SERVICES}/one`);
    expect((await api.call("POST", SERVICES, service("two", { clusterIP }))).code).toBe(201);
    expect((await api.call("DELETE", `${SERVICES}/two`)).code).toBe(200);
  });

  test("outside of the network is refused, and a full network says so", async () => {
    expect((await api.call("POST", SERVICES, service("out", { clusterIP: "10.9.9.9" }))).code).toBe(422);
    const codes: number[] = [];
    for (let i = 0; i < 6; i += 1) codes.push((await api.call("POST", SERVICES, service(`fill-${i}`, {}))).code);
    expect(codes).toEqual([201, 201, 201, 201, 201, 500]);
    for (let i = 0; i < 5; i += 1) await api.call("DELETE", `${SERVICES}/fill-${i}`);
  });

  test("of type LoadBalancer has node ports, keeps them over updates, and loses them with its type", async () => {
    const ports = [
      { name: "a", port: 80 },
      { name: "b", port: 53, protocol: "UDP" },
    ];
    const made = await api.call(
      "POST",
      SERVICES,
      service("lb", { type: "LoadBalancer", externalTrafficPolicy: "Local", ports }),
    );
    const first = at(made.body, "spec", "ports") as Json[];
    for (const port of first) expect(port["nodePort"]).toBeGreaterThanOrEqual(30_000);
    expect(at(made.body, "spec", "healthCheckNodePort")).toBeGreaterThanOrEqual(30_000);
    const merge = { "content-type": "application/merge-patch+json" };
    const status = { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } };
    expect((await api.call("PATCH", `${SERVICES}/lb/status`, status, merge)).body).toMatchObject(status);
    const body = { ...made.body, spec: { ...(made.body["spec"] as Json), ports } } as Json;
    delete (body["metadata"] as Json)["resourceVersion"];
    const again = await api.call("PUT", `${SERVICES}/lb`, body);
    expect(at(again.body, "spec", "ports")).toEqual(first);
    const plain = await api.call("PATCH", `${SERVICES}/lb`, { spec: { type: "ClusterIP" } }, merge);
    expect((at(plain.body, "spec", "ports") as Json[]).map((p) => p["nodePort"])).toEqual([undefined, undefined]);
    expect(at(plain.body, "status")).toEqual({ loadBalancer: {} });
    const nodePort = first[0]?.["nodePort"];
    const taker = service("taker", { type: "NodePort", ports: [{ port: 80, nodePort }] });
    expect((await api.call("POST", SERVICES, taker)).code).toBe(201);
    const clash = await api.call(
      "POST",
      SERVICES,
      service("clash", { type: "NodePort", ports: [{ port: 80, nodePort }] }),
    );
    expect(clash.body["message"]).toContain(
      `spec.ports[0].nodePort: Invalid value: ${String(nodePort)}: provided port is already allocated`,
    );
  });
});
