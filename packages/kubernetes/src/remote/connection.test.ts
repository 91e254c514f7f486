import { silentLog, VirtualClock } from "@causeway/foundation";
import { afterEach, describe, expect, test } from "vitest";
import { json, listOf, openWatch, ScriptedServer, type Answer } from "../testing/scripted-server.ts";
import { Node } from "../types/core.ts";
import { Connection } from "./connection.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/**
 * Client and server share this event loop: so many turns of it carry a request there and back, however slow they are.
 */
const pause = async () => {
  for (let i = 0; i < 6; i++) await new Promise((resolve) => setTimeout(resolve, 2));
};

async function open(answer: Answer) {
  const server = await ScriptedServer.start(answer);
  const clock = new VirtualClock();
  const key = { namespace: "n", name: "demo" };
  const connection = new Connection(key, { server: server.url }, { clock, log: silentLog });
  await connection.open(new AbortController().signal);
  const serving = connection.serve();
  ends.push(async () => {
    connection.end("the test is over");
    await serving;
    await server.stop();
  });
  const probes = () => server.requests.filter((request) => request.path === "/version").length;
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds / 10; i++) {
      await clock.advance(10_000);
      await pause();
    }
  };
  return { connection, probes, pass };
}

const alive: Answer = (request, response) =>
  request.query.has("watch") ? void openWatch(response) : json(response, listOf("Node", "1", []));

describe("a connection", () => {
  test("asks after a cluster's health only while something uses it", async () => {
    const { connection, probes, pass } = await open(alive);
    await pass(60);
    const used = probes();
    await pass(200);
    expect(probes()).toBeLessThanOrEqual(used + 1);
    await connection.client.list(Node);
    await pass(30);
    expect(probes()).toBeGreaterThan(used + 1);
    expect(connection.signal.aborted).toBe(false);
  });

  test("asks nothing while a watch is open", async () => {
    const { connection, probes, pass } = await open(alive);
    const nodes = connection.informers.for(Node);
    await nodes.whenSynced();
    await pause();
    const before = probes();
    await pass(100);
    expect(probes()).toBe(before);
  });

  test("ends when the cluster does not answer three times in a row", async () => {
    let dead = false;
    const { connection, pass } = await open((request, response) => {
      if (dead) response.destroy();
      else void alive(request, response);
    });
    dead = true;
    await pass(20);
    expect(connection.signal.aborted).toBe(false);
    await pass(20);
    expect(connection.signal.aborted).toBe(true);
    expect(String(connection.signal.reason)).toContain("n/demo is disconnected");
  });
});
