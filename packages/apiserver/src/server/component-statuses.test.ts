import { systemClock, type Clock } from "@causeway/foundation";
import { afterEach, expect, test } from "vitest";
import type { ApiServer } from "../interface.ts";
import { records, type Json } from "../json/json.ts";
import { startApiServer } from "../start.ts";
import { rawClient, type Raw } from "../testing/client.ts";

let server: ApiServer | undefined;
let api: Raw | undefined;
afterEach(async () => {
  api?.close();
  await server?.close();
});

async function started(clock: Clock = systemClock): Promise<Raw> {
  server = await startApiServer({ clock });
  api = await rawClient(server.management);
  return api;
}

test("a scheduler is healthy as long as a leader renews its Lease", async () => {
  let now = systemClock.now();
  const raw = await started({ ...systemClock, now: () => now });
  const health = async (): Promise<unknown> =>
    records((await raw.call("GET", "/api/v1/componentstatuses/scheduler")).body["conditions"])[0];
  const unhealthy = {
    type: "Healthy",
    status: "False",
    message: "no leader holds the Lease kube-system/kube-scheduler",
  };
  expect(await health()).toEqual(unhealthy);
  const renewTime = new Date(now).toISOString().replace("Z", "000Z");
  const body: Json = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "kube-scheduler" },
    spec: { holderIdentity: "host_1", leaseDurationSeconds: 15, renewTime },
  };
  const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
  expect((await raw.call("POST", path, body)).code).toBe(201);
  expect(await health()).toEqual({ type: "Healthy", status: "True", message: "ok" });
  now += 16_000;
  expect(await health()).toEqual(unhealthy);
});

test("a request to a target that kube-apiserver would forward to is reported as one that cannot be reached", async () => {
  const raw = await started();
  const spec = { automountServiceAccountToken: false, containers: [{ name: "c", image: "i" }] };
  const pods = "/api/v1/namespaces/default/pods";
  await raw.call("POST", pods, { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec });
  const merge = { "content-type": "application/merge-patch+json" };
  const status = { podIP: "10.1.2.3", podIPs: [{ ip: "10.1.2.3" }] };
  expect((await raw.call("PATCH", `${pods}/p/status`, { status }, merge)).code).toBe(200);
  const targetRef = { kind: "Pod", namespace: "default", name: "p" };
  await raw.call("POST", "/api/v1/namespaces/default/endpoints", {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { name: "s" },
    subsets: [{ addresses: [{ ip: "10.1.2.3", targetRef }], ports: [{ port: 80 }] }],
  });
  for (const target of [`${pods}/p`, "/api/v1/namespaces/default/services/s"]) {
    const { code, body } = await raw.call("GET", `${target}/proxy/x`);
    expect([code, body["reason"], body["message"]]).toEqual([
      503,
      "ServiceUnavailable",
      "error trying to reach service: this server does not forward requests to nodes, pods and services",
    ]);
  }
  expect((await raw.call("GET", "/api/v1/constructor/p/proxy")).code).toBe(404);
});
