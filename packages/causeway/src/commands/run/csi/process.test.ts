import { createServer, type AddressInfo, type Server } from "node:net";
import { once } from "node:events";
import { createMetrics, silentLog } from "@causeway/foundation";
import { afterEach, expect, test } from "vitest";
import { claimReader, runDriver } from "./process.ts";

const open: Server[] = [];
afterEach(() => open.splice(0).forEach((server) => server.close()));

/** A port that is in use until the server is closed. */
async function taken(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer().listen(0, "127.0.0.1");
  open.push(server);
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, server };
}

async function freePort(): Promise<number> {
  const { port, server } = await taken();
  await new Promise((done) => server.close(done));
  return port;
}

function driver(httpEndpoint: string | undefined) {
  const stop = new AbortController();
  const metrics = createMetrics();
  metrics.counter({ name: "example_total", help: "Example.", labels: [] }).increment({});
  let closed = 0;
  const start = () => Promise.resolve({ close: () => Promise.resolve(void (closed += 1)) });
  const served = { driver: "test.csi", endpoint: "unix:///csi/csi.sock", services: ["node"] };
  const lines: unknown[] = [];
  const log = { ...silentLog, info: (text: string, fields?: object) => void lines.push([text, fields]) };
  const parts = { httpEndpoint, metrics, served, start, log, registration: undefined };
  return { stop, ended: runDriver(parts, stop.signal), closed: () => closed, lines, served };
}

test("--http-endpoint serves upstream's /metrics and /healthz until the driver ends", async () => {
  const port = await freePort();
  const { stop, ended, closed } = driver(`127.0.0.1:${port}`);
  const read = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return [response.status, await response.text()];
  };
  await expect.poll(() => read("/healthz").catch(() => []), { timeout: 5_000 }).toEqual([200, "ok\n"]);
  expect(await read("/metrics?format=text")).toEqual([200, expect.stringContaining("example_total 1")]);
  expect(await read("/")).toEqual([404, "not found\n"]);
  stop.abort();
  await ended;
  expect(closed()).toBe(1);
  await expect(read("/healthz")).rejects.toThrow();
});

test.each(["8080", "127.0.0.1:70000", "127.0.0.1:"])(
  "--http-endpoint %s is refused, and the driver closed",
  async (bad) => {
    const { ended, closed } = driver(bad);
    await expect(ended).rejects.toMatchObject({ code: "FLAG_INVALID" });
    expect(closed()).toBe(1);
  },
);

test("a port of --http-endpoint that is in use is an error with a hint, and the driver closed", async () => {
  const { port } = await taken();
  const { ended, closed } = driver(`127.0.0.1:${port}`);
  await expect(ended).rejects.toMatchObject({ code: "ENDPOINT_PORT_TAKEN" });
  expect(closed()).toBe(1);
});

test("the log says which driver is served, where, and with which services", async () => {
  const { stop, ended, lines, served } = driver(undefined);
  await expect.poll(() => lines).toEqual([["the CSI driver is served", served]]);
  stop.abort();
  await ended;
});

test("claims are read with --pvc-annotations only, at --master where it is given", async () => {
  expect(claimReader({ pvcAnnotations: "false" }, "test")).toBeUndefined();
  const port = await freePort();
  const reader = claimReader({ pvcAnnotations: "true", master: `http://127.0.0.1:${port}` }, "test");
  await expect(reader?.read("default", "claim")).rejects.toThrow(new RegExp(`${port}|refused`, "i"));
  await reader?.close();
});
