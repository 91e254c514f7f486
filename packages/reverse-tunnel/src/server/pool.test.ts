import { PassThrough } from "node:stream";
import { createMetrics, parseCidr, VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import type { Connection } from "../flow/connection.ts";
import { serverMetrics } from "./metrics.ts";
import { Pool, type Agent } from "./pool.ts";

const REFUSED = "dial tcp 10.0.0.1:443: connect: connection refused";
const services = parseCidr("10.0.0.0/8");

/** A pool whose agents answer the dials, in the order in which they are called, with these errors; "": connected. */
function poolOf(agents: number, errors: readonly string[]) {
  const pool = new Pool(
    {
      name: "a",
      serverAuthorities: [],
      agentAuthorities: [],
      serverNames: [],
      rules: { allow: services ? [services] : [], deny: [], names: [] },
      maxStreams: 10,
    },
    {
      strategies: ["default"],
      agentWait: 1,
      dialTimeout: 1_000,
      clock: new VirtualClock(),
      metrics: serverMetrics(createMetrics()),
    },
  );
  const asked: string[] = [];
  const opened: string[] = [];
  const all: Agent[] = [];
  for (let i = 0; i < agents; i++) {
    const id = `agent-${i}`;
    const connection = {
      streams: 0,
      send(packet: Parameters<Connection["send"]>[0]) {
        if (packet.type !== "dial") return;
        const error = errors[asked.length] ?? "";
        asked.push(id);
        queueMicrotask(() => pool.receive(agent, { type: "dialled", random: packet.random, id: 1n, error }));
      },
      open: () => void opened.push(id),
    } as unknown as Connection;
    const agent: Agent = {
      id,
      identifiers: {},
      connection,
      pending: new Map(),
      isDraining: false,
      isExpired: false,
    } as unknown as Agent;
    all.push(agent);
    pool.add(agent);
  }
  const dial = () => pool.dial({ host: "10.0.0.1", port: 443 }, () => new PassThrough(), new AbortController().signal);
  return { pool, all, dial, asked, opened };
}

test("a connection that the host refused at one agent is tried at another one", async () => {
  const { dial, asked, opened } = poolOf(2, [REFUSED, ""]);
  await dial();
  expect(new Set(asked).size).toBe(2);
  expect(opened).toEqual([asked[1]]);
});

test("a connection that two agents' hosts refused fails with the reason, and no third agent is called", async () => {
  const { dial, asked, opened } = poolOf(3, [REFUSED, REFUSED, ""]);
  await expect(dial()).rejects.toMatchObject({ reason: "error_response", status: 502, message: REFUSED });
  expect([new Set(asked).size, asked.length, opened.length]).toEqual([2, 2, 0]);
});

test("a refused connection of the only agent fails at once", async () => {
  const { dial, asked } = poolOf(1, [REFUSED, ""]);
  await expect(dial()).rejects.toMatchObject({ message: REFUSED });
  expect(asked).toHaveLength(1);
});

test("a dial that failed for another reason is not repeated: it may have waited long", async () => {
  const { dial, asked } = poolOf(2, ["dial tcp 10.0.0.1:443: connect: no route to host", ""]);
  await expect(dial()).rejects.toMatchObject({ status: 502 });
  expect(asked).toHaveLength(1);
});

test("a dial whose agent is lost before it learns of it goes to another one at once", async () => {
  const { pool, all, dial, asked } = poolOf(2, [""]);
  const [first, second] = all as [Agent, Agent];
  pool.remove(second);
  const dialled = dial();
  pool.remove(first);
  pool.add(second);
  await dialled;
  expect(asked).toEqual(["agent-1"]);
});
