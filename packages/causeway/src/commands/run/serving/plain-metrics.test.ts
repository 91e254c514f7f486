import { expect, test } from "vitest";
import { createMetrics, silentLog } from "@causeway/foundation";
import { serveMetrics } from "./plain-metrics.ts";

test("the metrics port serves the state in words, that the process lives, and the metrics", async () => {
  const metrics = createMetrics();
  metrics.counter({ name: "calls_total", help: "Calls." }).increment();
  let state = "ok";
  const served = await serveMetrics("127.0.0.1:0", { metrics, log: silentLog, health: async () => state });
  const port = served?.port ?? 0;
  const get = async (path: string, method = "GET"): Promise<[number, string]> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    return [response.status, await response.text()];
  };
  try {
    expect(await get("/healthz")).toEqual([200, "ok"]);
    state = "Barbican cannot be reached";
    expect(await get("/healthz?verbose")).toEqual([503, state]);
    expect(await get("/livez")).toEqual([200, "ok"]);
    expect(await get("/metrics")).toEqual([200, expect.stringContaining("calls_total 1")]);
    expect((await get("/metrics", "POST"))[0]).toBe(404);
    expect((await get("/"))[0]).toBe(404);
    await expect(serveMetrics(`127.0.0.1:${port}`, { metrics, log: silentLog })).rejects.toMatchObject({
      code: "METRICS_ADDRESS_INVALID",
    });
  } finally {
    await served?.close();
  }
  expect(await serveMetrics(undefined, { metrics, log: silentLog })).toBeUndefined();
});
