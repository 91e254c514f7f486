import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { FrontOfApi, hasPython } from "../testing/front-of-api.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const front = new FrontOfApi();
afterEach(() => front.stop());
afterAll(() => front.remove());

const packet = (number: number, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from([payload.length & 0xff, payload.length >> 8, 0, number]), payload]);
const error = (code: number): Buffer => Buffer.from([0xff, code & 0xff, code >> 8, ...Buffer.from("#08S01no")]);
const GREETING = Buffer.concat([
  Buffer.from("\n11.4.2-MariaDB\0"),
  Buffer.alloc(12, 7),
  Buffer.alloc(19),
  Buffer.alloc(13, 7),
  Buffer.from("mysql_native_password\0"),
]);

describe.runIf(hasPython)("an API whose database", () => {
  let server: Server | undefined;
  const open = new Set<Socket>();
  afterEach(async () => {
    for (const socket of open) socket.destroy();
    open.clear();
    await new Promise((done) => (server ? server.close(done) : done(undefined)));
    server = undefined;
  });

  test.each([
    ["says nothing", "away", []],
    ["closes each connection", "away", undefined],
    ["has no place for a connection", "there", [error(1040)]],
    ["has no place for the account", "there", [GREETING, error(1226)]],
    ["is about to stop", "away", [GREETING, error(1053)]],
    ["has no quorum", "away", [GREETING, error(1047)]],
    ["blocks the host", "not pinged", [error(1129)]],
    ["wants TLS", "not pinged", [GREETING, error(3159)]],
    ["wants another login", "not pinged", [GREETING, Buffer.from("\xfecaching_sha2_password\0salt\0", "latin1")]],
    ["is none", "not pinged", [Buffer.from("HTTP/1.1 400 Bad Request")]],
  ] as const)("%s counts as %s", async (_, counts, answers) => {
    let connections = 0;
    server = createServer((socket) => {
      open.add(socket);
      connections++;
      socket.on("error", () => {});
      if (!answers) return void socket.end();
      const [first, ...others] = answers;
      if (first) socket.write(packet(0, first));
      for (const [at, each] of others.entries()) socket.once("data", () => socket.write(packet(2 + at, each)));
    });
    await new Promise<void>((done) => server?.listen(0, "127.0.0.1", done));
    await front.start(`mysql+pymysql://glance:secret@127.0.0.1:${(server.address() as AddressInfo).port}/glance`);
    if (counts === "away") await front.until(async () => (await front.ask("ready")) === 503);
    else if (counts === "not pinged") {
      await front.until(() => front.said.includes("not pinged any more"));
      expect(connections).toBe(1);
    } else await front.until(() => connections > 15);
    expect(await front.ask("ready")).toBe(counts === "away" ? 503 : 200);
    expect(await front.ask("live")).toBe(200);
    expect(front.said).not.toContain("secret");
  });

  test("is none is not said to have one that cannot be read", async () => {
    const other = join(front.dir, "other.conf.d");
    mkdirSync(other, { recursive: true });
    writeFileSync(join(other, "libc.conf"), "/usr/local/lib\n");
    await front.start("", { FRONT_DATABASE: "" });
    expect(await front.ask("ready")).toBe(200);
    expect(front.said).not.toContain("is not pinged");
  });

  test.each([["sqlite:////tmp/x.db"], ["postgresql://u:p@127.0.0.1:1/x"], [""]])(
    "%s is none that is pinged: it is ready",
    async (url) => {
      await front.start(url);
      expect(await front.ask("ready")).toBe(200);
    },
  );
});
