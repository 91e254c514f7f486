import { VirtualClock } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { measureClusters, measureRequests } from "./interruptions.ts";

/** In steps of a request each. */
async function advance(clock: VirtualClock, ms: number): Promise<void> {
  for (let past = 0; past < ms; past += 100) await clock.advance(100);
}

test("the longest time without a response is that between two responses, whatever failed meanwhile", async () => {
  const clock = new VirtualClock(0);
  const isAway = (): boolean => clock.now() >= 1_000 && clock.now() < 3_000;
  const requests = measureRequests(async () => {
    if (isAway()) throw new Error("connection refused");
  }, clock);
  await advance(clock, 5_000);
  const seen = await requests.end();
  expect(seen).toMatchObject({ failures: 20, why: "connection refused" });
  expect(seen.responses).toBeGreaterThan(25);
  expect(seen.longest).toBe(2_100);
});

test("an API that does not come back before the end is away until then", async () => {
  const clock = new VirtualClock(0);
  const requests = measureRequests(async () => {
    if (clock.now() >= 1_000) throw new Error("connection refused");
  }, clock);
  await advance(clock, 4_000);
  const { longest } = await requests.end();
  expect(longest).toBeGreaterThanOrEqual(3_000);
});

test.for<[string, string, object]>([
  ["a command", "exec", { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "true" } }],
  ["a file with a token", "tokenFile", { tokenFile: "/proc/self/environ" }],
  ["a file with a key", "client-key", { "client-certificate-data": "YQ==", "client-key": "/etc/passwd" }],
])("a kubeconfig of a tenant that names %s is not used", async ([, field, user]) => {
  const kubeconfig = JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "a",
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    clusters: [{ name: "a", cluster: { server: "http://127.0.0.1:9" } }],
    users: [{ name: "a", user }],
  });
  const data = { value: Buffer.from(kubeconfig).toString("base64") };
  const client = { find: async () => ({ data }) } as unknown as KubernetesClient;
  const measure = measureClusters({ from: client, to: client, namespace: "t", clock: new VirtualClock(0) });
  const [line, ...more] = await (await measure(["web"], new AbortController().signal)).end();
  expect(line).toMatch(new RegExp(`^cluster web: its API was not requested: .*\\(${field}\\)`));
  expect(more).toEqual([]);
});
