import { createServer, connect, type AddressInfo, type Server } from "node:net";
import { VirtualClock } from "@causeway/foundation";
import { afterEach, expect, test } from "vitest";
import { Prober } from "./prober.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/**
 * A DNS server that answers with this code and so many addresses. "silent": it never answers; "text": it speaks
 * something else.
 */
async function serve(how: { code: number; addresses: number } | "silent" | "text" | "close"): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (how === "close") return void socket.end();
    if (how === "text") return void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
    socket.on("data", (question: Buffer) => {
      if (how === "silent") return;
      const response = Buffer.from(question.subarray(2));
      response.writeUInt16BE(0x8180 | how.code, 2);
      response.writeUInt16BE(how.addresses, 6);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(response.length);
      // In two parts, as a network may bring it.
      socket.write(length);
      setImmediate(() => socket.write(response));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const cluster = { namespace: "a", name: "b" };
const signal = new AbortController().signal;
const prober = (clock: VirtualClock, port: number) =>
  new Prober(clock, () => Promise.resolve(connect({ host: "127.0.0.1", port })));

test.for<[string, Parameters<typeof serve>[0], string | undefined]>([
  ["an address", { code: 0, addresses: 1 }, undefined],
  ["a failure", { code: 2, addresses: 0 }, "a failure of the server"],
  ["no such name", { code: 3, addresses: 0 }, "no such name"],
  ["no address", { code: 0, addresses: 0 }, "has no address of a.b"],
  ["something else", "text", "failed"],
  ["the end of the connection", "close", "without an answer"],
])("a DNS probe passes, or says why, with a response of %s", async ([, how, problem]) => {
  const probe = { type: "DNS", host: "10.96.0.10", port: 53, question: "a.b" } as const;
  const result = await prober(new VirtualClock(), await serve(how)).result(cluster, probe, signal);
  if (problem === undefined) expect(result.problem).toBeUndefined();
  else expect(result.problem).toContain(problem);
});

test("a DNS probe without an answer ends after two seconds", async () => {
  const clock = new VirtualClock();
  const asked = prober(clock, await serve("silent")).result(cluster, { type: "DNS", host: "h", port: 53 }, signal);
  let result: Awaited<typeof asked> | undefined;
  void asked.then((given) => (result = given));
  for (let i = 0; i < 100 && !result; i++) {
    await clock.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  expect(result?.problem).toContain("no answer within 2 s");
});

test("probes are repeated only when they are due, and without a tunnel they say so", async () => {
  const clock = new VirtualClock();
  const probe = { type: "Dial", host: "10.96.0.1", port: 443 } as const;
  const none = new Prober(clock, undefined);
  expect((await none.result(cluster, probe, signal)).problem).toContain("no tunnel leads into the cluster");
  let dials = 0;
  const port = await serve("silent");
  const counting = new Prober(clock, () => {
    dials += 1;
    return Promise.resolve(connect({ host: "127.0.0.1", port }));
  });
  for (const _ of [1, 2, 3]) expect((await counting.result(cluster, probe, signal)).problem).toBeUndefined();
  expect(dials).toBe(1);
  await clock.advance(30_000);
  await counting.result(cluster, probe, signal);
  expect(dials).toBe(2);
});

test("a cluster is probed where a tunnel leads into it", () => {
  const dial = () => Promise.reject(new Error("unused"));
  const clock = new VirtualClock();
  expect(new Prober(clock, undefined).canDial(cluster)).toBe(false);
  expect(new Prober(clock, dial).canDial(cluster)).toBe(true);
  const some = Object.assign(dial, { reaches: ({ name }: { readonly name: string }) => name !== cluster.name });
  expect(new Prober(clock, some).canDial(cluster)).toBe(false);
  expect(new Prober(clock, some).canDial({ ...cluster, name: "c" })).toBe(true);
});
