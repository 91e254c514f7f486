/** Kubelets by way of the hosted API server and of the masters': what is reported, and how often is tried. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { VirtualClock } from "@causeway/foundation";
import { createClient, type KubernetesClient } from "@causeway/kubernetes";
import { afterEach, expect, test } from "vitest";
import { unreachedKubelets } from "./kubelets.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const node = (name: string, ready: string) => ({
  metadata: { name },
  status: { conditions: [{ type: "Ready", status: ready }] },
});

interface Played {
  readonly client: KubernetesClient;
  /** Names of nodes that were probed, in order. */
  readonly probed: string[];
}

/** An API server of nodes that reaches a kubelet or not, by the number of the attempt. */
async function apiServer(
  nodes: readonly ReturnType<typeof node>[],
  reaches: (name: string, attempt: number) => boolean,
): Promise<Played> {
  const probed: string[] = [];
  const server: Server = createServer((request, response) => {
    const [, name] = /^\/api\/v1\/nodes\/([^/]+)\/proxy\/healthz$/.exec(request.url ?? "") ?? [];
    response.setHeader("content-type", name === undefined ? "application/json" : "text/plain");
    if (name === undefined) {
      response.end(JSON.stringify({ kind: "NodeList", apiVersion: "v1", metadata: {}, items: nodes }));
      return;
    }
    probed.push(name);
    const isReached = reaches(name, probed.filter((each) => each === name).length);
    response.statusCode = isReached ? 200 : 502;
    response.end(isReached ? "ok" : "dial tcp 10.0.0.7:10250: connect: connection refused");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = createClient({ server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  closing.push(
    () => client.close(),
    () => server.close(),
  );
  return { client, probed };
}

/** The pauses of attempts pass as soon as they begin. */
class HastyClock extends VirtualClock {
  override async sleep(): Promise<void> {}
}

const signal = new AbortController().signal;
const nodes = [node("a", "True"), node("b", "True"), node("silent", "Unknown")];

test("a kubelet that only the masters reach is reported, one that neither reaches as such, one that is silent not at all", async () => {
  const source = await apiServer(nodes, (name) => name === "a");
  const hosted = await apiServer(nodes, () => false);
  const probe = { source: source.client, hosted: hosted.client, clock: new HastyClock(), checked: new Set<string>() };
  const found = await unreachedKubelets(probe, signal);
  expect(found.map(({ node: name, isUnreachable }) => `${name} ${isUnreachable}`)).toEqual(["a false", "b true"]);
  expect(found[0]?.problem).toMatch(/\S/);
  // A tunnel may be connecting: three attempts where the masters show that it is possible, else one.
  expect(hosted.probed.toSorted()).toEqual(["a", "a", "a", "b"]);
});

test("a tunnel that connects late is waited for, and what was reached is not probed again", async () => {
  const source = await apiServer(nodes, () => true);
  const hosted = await apiServer(nodes, (name, attempt) => name === "a" || attempt > 2);
  const probe = { source: source.client, hosted: hosted.client, clock: new HastyClock(), checked: new Set<string>() };
  expect(await unreachedKubelets(probe, signal)).toEqual([]);
  expect(hosted.probed.toSorted()).toEqual(["a", "b", "b", "b"]);
  expect(await unreachedKubelets(probe, signal)).toEqual([]);
  expect(hosted.probed).toHaveLength(4);
});
