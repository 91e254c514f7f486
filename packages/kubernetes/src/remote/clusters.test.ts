import { silentLog } from "@causeway/foundation";
import { afterEach, describe, expect, test } from "vitest";
import type { Change, Informer, Informers } from "../cache/interface.ts";
import { renderKubeconfig } from "../config/render.ts";
import { json, listOf, openWatch, refuse, ScriptedServer, type Answer } from "../testing/scripted-server.ts";
import { Node, type Secret } from "../types/core.ts";
import { createRemoteClusters } from "./clusters.ts";
import type { RemoteCluster } from "./interface.ts";

const ends: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 24_000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(condition()).toBe(true);
}

/** The Secrets of a management cluster, changed by hand. */
function secrets() {
  let handler: (change: Change<Secret>) => void = () => {};
  const onChange: Informer<Secret>["onChange"] = (given) => {
    handler = given;
    return () => {};
  };
  const informers = { for: () => ({ onChange }) } as unknown as Informers;
  const change = (type: Change<Secret>["type"], cluster: string, kubeconfig: string, more: Partial<Secret> = {}) =>
    handler({
      type,
      object: {
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          namespace: "n",
          name: `${cluster}-kubeconfig`,
          labels: { "cluster.x-k8s.io/cluster-name": cluster },
        },
        type: "cluster.x-k8s.io/secret",
        data: { value: Buffer.from(kubeconfig).toString("base64") },
        ...more,
      },
    });
  return { informers, change };
}

function start() {
  const { informers, change } = secrets();
  const clusters = createRemoteClusters({ informers, log: silentLog });
  const stop = new AbortController();
  const seen: RemoteCluster[] = [];
  clusters.onConnect((cluster) => seen.push(cluster));
  const running = clusters.run(stop.signal);
  ends.push(async () => {
    stop.abort();
    await running;
  });
  return { clusters, change, seen };
}

const answer: Answer = (request, response) => {
  if (request.path === "/version") return json(response, { gitVersion: "v1.34.0" });
  if (request.query.has("watch")) return void openWatch(response);
  return json(response, listOf("Node", "1", [{ metadata: { name: "node-1", uid: "u", resourceVersion: "1" } }]));
};

async function workload(answers: Answer = answer): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(answers);
  ends.push(() => server.stop());
  return server;
}

const kubeconfig = (server: string, token = "t") =>
  renderKubeconfig({ server, token, clusterName: "c", userName: "u" });
const key = { namespace: "n", name: "demo" };

describe("a workload cluster", () => {
  test("is connected by its Secret, with informers that run, until the Secret goes", async () => {
    const server = await workload();
    const { clusters, change, seen } = start();
    change("added", "demo", kubeconfig(server.url));
    await until(() => seen.length === 1);
    const cluster = clusters.get(key);
    const nodes = cluster?.informers.for(Node);
    await nodes?.whenSynced();
    expect(nodes?.list().map((node) => node.metadata.name)).toEqual(["node-1"]);
    expect(server.requests[0]?.headers.authorization).toBe("Bearer t");
    change("deleted", "demo", kubeconfig(server.url));
    expect(clusters.get(key)).toBeUndefined();
    expect(cluster?.signal.aborted).toBe(true);
  });

  test("is reconnected when its kubeconfig changes, and not when it remains", async () => {
    const first = await workload();
    const second = await workload();
    const { clusters, change, seen } = start();
    change("added", "demo", kubeconfig(first.url));
    await until(() => seen.length === 1);
    change("updated", "demo", kubeconfig(first.url));
    change("updated", "demo", kubeconfig(second.url));
    expect(clusters.get(key)).toBeUndefined();
    await until(() => seen.length === 2);
    expect(seen.map((each) => [each.client.server, each.signal.aborted])).toEqual([
      [first.url, true],
      [second.url, false],
    ]);
  });

  test("is reconnected after it refused our credentials", async () => {
    let refusals = 0;
    const server = await workload((request, response) => {
      if (request.path === "/api/v1/nodes" && refusals++ === 0) return refuse(response, 401, "Unauthorized");
      return answer(request, response);
    });
    const { change, seen } = start();
    change("added", "demo", kubeconfig(server.url));
    await until(() => seen.length === 1);
    await expect(seen[0]?.client.list(Node)).rejects.toMatchObject({ code: "KUBERNETES_UNAUTHORIZED" });
    expect(seen[0]?.signal.aborted).toBe(true);
    await until(() => seen.length === 2);
    expect((await seen[1]?.client.list(Node))?.items).toHaveLength(1);
  });

  test("that is dead, or badly described, does not hold up another", async () => {
    const dead = await workload(() => {});
    const server = await workload();
    const { clusters, change, seen } = start();
    change("added", "dead", kubeconfig(dead.url));
    change("added", "bad", "not: [a kubeconfig");
    change("added", "plugin", "users: [{name: u, user: {exec: {command: rm}}}]");
    change("added", "demo", kubeconfig(server.url));
    await until(() => seen.length === 1);
    expect(clusters.get(key)).toBe(seen[0]);
    expect(clusters.get({ namespace: "n", name: "dead" })).toBeUndefined();
  });

  test("is not made of Secrets of other types and names", async () => {
    const server = await workload();
    const { change, seen } = start();
    change("added", "demo", kubeconfig(server.url), { type: "Opaque" });
    change("added", "demo", kubeconfig(server.url), { data: {} });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(seen).toEqual([]);
    expect(server.requests).toEqual([]);
  });

  test("is reported to subscribers that come late", async () => {
    const server = await workload();
    const { clusters, change, seen } = start();
    change("added", "demo", kubeconfig(server.url));
    await until(() => seen.length === 1);
    const late: RemoteCluster[] = [];
    clusters.onConnect((cluster) => late.push(cluster));
    expect(late).toEqual(seen);
  });
});
