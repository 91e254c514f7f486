/** Requests whose bodies do not come hold up their own project only, and not for long. */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { clockWith } from "./testing/clock.ts";
import { openStage, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

/** Bodies that are awaited for 10 seconds: their time is over when the test says so. */
const awaited: PromiseWithResolvers<void>[] = [];
const clock = clockWith(10_000, () => {
  const wait = Promise.withResolvers<void>();
  awaited.push(wait);
  return wait.promise;
});
let stage: Stage;
const sockets: Socket[] = [];
beforeAll(async () => {
  stage = await openStage({ clock });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await stage.close();
});

/** Announces a body and never sends it; resolves with the status line of the response that ends the connection. */
function announce(path: string, token?: string): Promise<string> {
  const { hostname, port } = new URL(stage.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  const auth = token === undefined ? "" : `x-auth-token: ${token}\r\n`;
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n${auth}\r\n`);
  return new Promise((resolve) => {
    let text = "";
    socket.on("data", (data) => (text += data.toString()));
    socket.on("error", () => {});
    const line = (): string => (/^connection: close\r$/im.test(text) ? (text.split("\r\n")[0] ?? "") : "remains open");
    socket.on("close", () => resolve(line()));
  });
}

const statusOf = async (who: string, path: string) => (await stage.call(who, "GET", path)).status;

it("a project has at most 50 requests under way, others and probes continue, and a body has 10 seconds", async () => {
  const token = stage.tokens.get("demo");
  expect(await statusOf("demo", "/v1/clusters")).toBe(200);
  const waiting = Array.from({ length: 60 }, () => announce("/v1/clustertemplates", token));
  const ended: string[] = [];
  for (const one of waiting) void one.then((line) => ended.push(line));
  await vi.waitFor(() => expect(ended).toEqual(Array<string>(10).fill("HTTP/1.1 429 Too Many Requests")), 5_000);
  const refused = await stage.call("demo", "GET", "/v1/clusters");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
  expect(JSON.stringify(refused.body)).toContain("The project has 50 requests under way, which is the limit");
  expect(await statusOf("alt", "/v1/clusters")).toBe(200);
  expect(await statusOf("", "/healthcheck")).toBe(200);
  expect(await statusOf("", "/")).toBe(200);
  // Until their time is over none of them ends.
  expect(ended).toHaveLength(10);
  for (const wait of awaited) wait.resolve();
  const lines = await Promise.all(waiting);
  expect(lines.filter((line) => line === "HTTP/1.1 408 Request Timeout")).toHaveLength(50);
  expect(await statusOf("demo", "/v1/clusters")).toBe(200);
});

it("a request without a valid token is refused before its body, and its connection ends", async () => {
  // After a body that was awaited it would be 408.
  const lines = await Promise.all([
    ...Array.from({ length: 600 }, () => announce("/v1/clusters")),
    announce("/v1/clusters", "no-token-of-keystone"),
  ]);
  expect(new Set(lines)).toEqual(new Set(["HTTP/1.1 401 Unauthorized"]));
});
