import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiServer } from "../interface.ts";
import { at, records, type Json } from "../json/json.ts";
import { startApiServer } from "../start.ts";
import { rawClient, type Raw } from "../testing/client.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
let server: ApiServer;
const clients: Raw[] = [];

beforeAll(async () => {
  server = await startApiServer();
});
afterAll(async () => {
  clients.forEach((c) => c.close());
  await server.close();
});

async function tenant(name: string, limits?: { objects?: number; bytes?: number }): Promise<Raw> {
  const made = await rawClient(await server.ensureCluster(name, limits ? { limits } : {}));
  clients.push(made);
  return made;
}

const map = (name: string, more: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  ...more,
});

/** What a cluster has from the start. */
async function held(api: Raw, resource: string): Promise<number> {
  const { body } = await api.call("GET", "/metrics");
  const series = new RegExp(`causeway_apiserver_cluster_held\\{resource="${resource}"\\} (\\d+)`);
  return Number(series.exec(String(body["text"]))?.[1]);
}

describe("a logical cluster with limits", () => {
  test("takes no more objects than it may hold, and others do not mind", async () => {
    const first = await tenant("counted", { objects: 10_000 });
    const start = await held(first, "objects");
    const api = await tenant("counted", { objects: start + 3 });
    const all = await Promise.all(Array.from({ length: 10 }, (_, i) => api.call("POST", MAPS, map(`m${i}`))));
    expect(all.filter((a) => a.code === 201)).toHaveLength(3);
    expect(all.find((a) => a.code === 507)?.body).toMatchObject({
      kind: "Status",
      reason: "InsufficientStorage",
      message: expect.stringMatching(
        new RegExp(`^database space exceeded: the cluster may hold ${start + 3} objects, and holds \\d+; delete some$`),
      ) as string,
    });
    expect((await (await tenant("free")).call("POST", MAPS, map("a"))).code).toBe(201);
    expect(await held(api, "objects")).toBe(start + 3);
  });

  test("continues to read, change and delete, and takes more when there is room", async () => {
    const api = await tenant("counted");
    const names = records((await api.call("GET", MAPS)).body["items"]).map((m) => String(at(m, "metadata", "name")));
    const own = names.filter((n) => n.startsWith("m"));
    expect(own).toHaveLength(3);
    expect((await api.call("PUT", `${MAPS}/${own[0]}`, map(own[0] ?? "", { data: { a: "b" } }))).code).toBe(200);
    expect((await api.call("POST", MAPS, map("more"))).code).toBe(507);
    expect((await api.call("DELETE", `${MAPS}/${own[0]}`)).code).toBe(200);
    expect((await api.call("POST", MAPS, map("more"))).code).toBe(201);
    expect((await api.call("POST", MAPS, map("most"))).code).toBe(507);
  });

  test("may be held to bytes: what grows is refused, what shrinks or goes is not", async () => {
    const first = await tenant("weighed", { bytes: 1e9 });
    const start = await held(first, "bytes");
    const api = await tenant("weighed", { bytes: start + 10_000 });
    const big = (size: number): Json => map("big", { data: { a: "x".repeat(size) } });
    expect((await api.call("POST", MAPS, big(6000))).code).toBe(201);
    expect((await api.call("PUT", `${MAPS}/big`, big(12_000))).code).toBe(507);
    expect((await api.call("PUT", `${MAPS}/big`, big(100))).code).toBe(200);
    expect((await api.call("PUT", `${MAPS}/big`, big(8000))).code).toBe(200);
    const two = map("two", { metadata: { name: "two", finalizers: ["example.com/hold"] } });
    expect((await api.call("POST", MAPS, two)).code).toBe(201);
    expect((await api.call("DELETE", `${MAPS}/two`)).code).toBe(200);
    expect((await api.call("DELETE", `${MAPS}/big`)).code).toBe(200);
    expect(await held(api, "bytes")).toBeLessThan(start + 1500);
  });
});
