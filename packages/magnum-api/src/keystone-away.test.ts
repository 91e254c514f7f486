/** What the log and clients read where Keystone cannot be reached, or is another server. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { silentLog, systemClock, VirtualClock, type Clock, type Log } from "@causeway/foundation";
import { createClient, createInformers } from "@causeway/kubernetes";
import { startSimulator } from "@causeway/simulator";
import { afterEach, expect, it, vi } from "vitest";
import { startMagnum } from "./magnum-api.ts";

vi.setConfig({ testTimeout: 60_000 });

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Lines of the log that are errors, of an API whose Keystone is at this address. */
async function start(
  authUrl: string,
  clock: Clock = systemClock,
): Promise<{ readonly url: string; readonly errors: string[] }> {
  const errors: string[] = [];
  const log: Log = {
    ...silentLog,
    with: () => log,
    error: (text, fields) => void errors.push(`${text} ${JSON.stringify(fields)}`),
  };
  // No request to the management cluster is awaited here.
  const client = createClient({ server: "http://127.0.0.1:1" });
  const informers = createInformers(client, { clock: systemClock });
  const keystone = { name: "keystone", authUrl };
  const magnum = await startMagnum({ informers, keystone, host: "127.0.0.1", port: 0, clock, log });
  const stopping = new AbortController();
  const running = magnum.run(stopping.signal);
  closing.push(
    () => client.close(),
    () => running,
    () => stopping.abort(),
  );
  return { url: `http://127.0.0.1:${magnum.port}`, errors };
}

it("a Keystone that cannot be reached is an error in the log at the start, and 503 for clients", async () => {
  const { url, errors } = await start("http://127.0.0.1:1/v3");
  await expect.poll(() => errors.join("\n"), { timeout: 30_000 }).toContain("Keystone cannot be reached");
  expect(errors.join("\n")).toContain("http://127.0.0.1:1/v3");
  const { status } = await fetch(`${url}/v1/clusters`, { headers: { "x-auth-token": "a".repeat(200) } });
  expect(status).toBe(503);
});

it("a server that is no Keystone is named as one", async () => {
  const server = createServer((_request, response) => response.end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  const { errors } = await start(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v3`);
  await expect.poll(() => errors.join("\n"), { timeout: 30_000 }).toContain("does not respond as Keystone v3 does");
});

it("a cluster reports nothing of a Keystone that responds", async () => {
  const simulator = await startSimulator();
  closing.push(() => simulator.close());
  const before = simulator.calls.length;
  const { url, errors } = await start(simulator.authUrl);
  await expect.poll(() => simulator.calls.length, { timeout: 30_000 }).toBeGreaterThan(before);
  // What it has not read it does not show as gone.
  expect((await fetch(`${url}/healthcheck`)).status).toBe(503);
  expect(errors.filter((line) => line.includes("Keystone"))).toEqual([]);
});

it("a management cluster that cannot be read is an error in the log, which names what", async () => {
  const clock = new VirtualClock();
  const { errors } = await start("http://127.0.0.1:1/v3", clock);
  const named = (): string =>
    errors.filter((line) => line.includes("the management cluster cannot be read")).join("\n");
  await clock.advance(19_000);
  expect(named()).toBe("");
  await clock.advance(1_000);
  await expect.poll(named).toContain("machinehealthchecks.cluster.x-k8s.io");
});
