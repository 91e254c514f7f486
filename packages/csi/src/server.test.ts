import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { CausewayError, type Log, type LogFields, silentLog } from "@causeway/foundation";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { csiClient, parseEndpoint, serveCsi, CreateVolumeResponseSchema, type ControllerImpl } from "./index.ts";

const identity = { getPluginInfo: () => ({ name: "test.csi" }) };
let dir = "";
const open: { close(): unknown }[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "csi-"));
});
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
  rmSync(dir, { recursive: true });
});

async function start(controller: ControllerImpl = {}, log: Log = silentLog) {
  const endpoint = `unix://${join(dir, "csi.sock")}`;
  open.push(await serveCsi({ endpoint, identity, controller, log }));
  const client = csiClient(endpoint);
  open.push(client);
  return client;
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "ok",
    (error: unknown) => ConnectError.from(error).code,
  );

describe("the server", () => {
  test("serves calls on a Unix socket", async () => {
    const client = await start({
      createVolume: ({ name }) => create(CreateVolumeResponseSchema, { volume: { volumeId: name } }),
    });
    expect((await client.identity.getPluginInfo({})).name).toBe("test.csi");
    expect((await client.controller.createVolume({ name: "a" })).volume?.volumeId).toBe("a");
  });

  test("has a socket that only the user of its process can connect to", async () => {
    await start();
    expect(statSync(join(dir, "csi.sock")).mode & 0o777).toBe(0o600);
  });

  test("survives bytes that are no HTTP/2, and a client that leaves in the middle of a call", async () => {
    const path = join(dir, "csi.sock");
    const client = await start();
    for (const bytes of [Buffer.alloc(4096, 0xff), Buffer.from("GET / HTTP/1.1\r\n\r\n"), Buffer.alloc(0)]) {
      const socket = connect(path);
      await new Promise<void>((resolve) => socket.once("connect", resolve));
      socket.on("error", () => {}).resume();
      socket.end(bytes);
      await new Promise<void>((resolve) => socket.once("close", () => resolve()));
    }
    const session = connectHttp2("http://localhost", { createConnection: () => connect(path) });
    session.on("error", () => {});
    const request = session.request({ ":method": "POST", ":path": "/csi.v1.Controller/CreateVolume" });
    request.on("error", () => {});
    request.write(Buffer.alloc(3));
    session.destroy();
    expect((await client.identity.getPluginInfo({})).name).toBe("test.csi");
  });

  test("serves a client that names the socket's path as its host, as the kubelet does", async () => {
    const path = join(dir, "csi.sock");
    await start();
    const session = connectHttp2("http://localhost", { createConnection: () => connect(path) });
    open.push(session);
    const request = session.request({
      ":method": "POST",
      ":path": "/csi.v1.Identity/GetPluginInfo",
      ":authority": encodeURIComponent(path),
      "content-type": "application/grpc",
      te: "trailers",
    });
    request.end(Buffer.alloc(5));
    const chunks = (await request.toArray()) as Buffer[];
    expect(Buffer.concat(chunks).toString()).toContain("test.csi");
  });

  test("returns the gRPC status of a CSI error, and Internal for others", async () => {
    const errors: Record<string, Error> = {
      missing: new CausewayError("CSI_NOT_FOUND", "No such volume."),
      cloud: new CausewayError("OPENSTACK_FORBIDDEN", "no role"),
      bug: new TypeError("x is undefined"),
    };
    const client = await start({
      deleteVolume: ({ volumeId }) => {
        throw errors[volumeId] ?? new Error("?");
      },
    });
    expect(await codeOf(client.controller.deleteVolume({ volumeId: "missing" }))).toBe(Code.NotFound);
    expect(await codeOf(client.controller.deleteVolume({ volumeId: "cloud" }))).toBe(Code.Internal);
    expect(await codeOf(client.controller.deleteVolume({ volumeId: "bug" }))).toBe(Code.Internal);
    expect(await codeOf(client.controller.getCapacity({}))).toBe(Code.Unimplemented);
    expect(await codeOf(client.node.nodeGetInfo({}))).toBe(Code.Unimplemented);
  });

  test("refuses a request larger than 1 MiB and continues to serve", async () => {
    const client = await start();
    const parameters = { a: "x".repeat(1024 * 1024) };
    expect(await codeOf(client.controller.createVolume({ parameters }))).toBe(Code.ResourceExhausted);
    expect((await client.identity.getPluginInfo({})).name).toBe("test.csi");
  });

  test("logs calls without their secrets", async () => {
    const lines: string[] = [];
    const write = (message: string, fields?: LogFields) => void lines.push(JSON.stringify({ message, ...fields }));
    const log: Log = { debug: write, info: write, warn: write, error: write, with: () => log };
    const client = await start({ createVolume: () => ({}) }, log);
    await client.controller.createVolume({
      name: "pvc-1",
      secrets: { password: "hunter2" },
      parameters: { type: "ssd" },
    });
    await codeOf(client.controller.deleteVolume({ volumeId: "v", secrets: { password: "hunter2" } }));
    expect(lines.join("\n")).toContain("pvc-1");
    expect(lines.join("\n")).toContain("ssd");
    expect(lines).toHaveLength(2);
    expect(lines.join("\n")).not.toContain("hunter2");
  });

  test("fires the signal of a call when its deadline passes", async () => {
    const seen = Promise.withResolvers<void>();
    const client = await start({
      deleteVolume: (_, { signal }) => {
        signal.addEventListener("abort", () => seen.resolve());
        return new Promise(() => {});
      },
    });
    expect(await codeOf(client.controller.deleteVolume({ volumeId: "v" }, { timeoutMs: 50 }))).toBe(
      Code.DeadlineExceeded,
    );
    await seen.promise;
  });

  test("replaces the socket of a process that was killed", async () => {
    const path = join(dir, "csi.sock");
    // A socket without a process: the server's file is kept by a rename while the server closes.
    const old = createServer();
    await new Promise<void>((done) => old.listen(path, done));
    const { renameSync } = await import("node:fs");
    renameSync(path, `${path}.kept`);
    await new Promise((done) => old.close(done));
    renameSync(`${path}.kept`, path);
    const client = await start();
    expect((await client.identity.getPluginInfo({})).name).toBe("test.csi");
  });

  test("does not take a socket that another process serves, nor remove another file", async () => {
    await start();
    const endpoint = `unix://${join(dir, "csi.sock")}`;
    await expect(serveCsi({ endpoint, identity })).rejects.toMatchObject({ code: "CSI_ENDPOINT_IN_USE" });
    writeFileSync(join(dir, "file"), "data");
    await expect(serveCsi({ endpoint: `unix://${dir}/file`, identity })).rejects.toMatchObject({
      code: "CSI_ENDPOINT_IN_USE",
    });
  });
});

describe("a socket that cannot be used", () => {
  test("is an error of the input that names the folder", async () => {
    const missing = join(dir, "plugins/cinder.csi.openstack.org");
    await expect(serveCsi({ endpoint: `unix://${missing}/csi.sock`, identity })).rejects.toMatchObject({
      code: "CSI_ENDPOINT_UNUSABLE",
      exitStatus: 2,
      message: `Cannot listen on ${missing}/csi.sock: the folder ${missing} does not exist.`,
      hint: expect.stringContaining(`Create the folder ${missing}`),
    });
    writeFileSync(join(dir, "file"), "data");
    await expect(serveCsi({ endpoint: `unix://${dir}/file/csi.sock`, identity })).rejects.toMatchObject({
      code: "CSI_ENDPOINT_UNUSABLE",
      message: expect.stringContaining("is not a folder"),
    });
  });
});

describe("the parser of CSI endpoints", () => {
  test.each([
    ["unix:///csi/csi.sock", { type: "unix", path: "/csi/csi.sock" }],
    ["unix:/csi/csi.sock", { type: "unix", path: "/csi/csi.sock" }],
    ["/csi/csi.sock", { type: "unix", path: "/csi/csi.sock" }],
    // As upstream's manifests have it in CSI_ENDPOINT.
    ["unix://csi/csi.sock", { type: "unix", path: "/csi/csi.sock" }],
    ["UNIX://csi.sock", { type: "unix", path: "/csi.sock" }],
    ["tcp://127.0.0.1:10000", { type: "tcp", host: "127.0.0.1", port: 10_000 }],
    ["tcp://[::1]:10000", { type: "tcp", host: "::1", port: 10_000 }],
  ])("reads %s", (text, expected) => expect(parseEndpoint(text)).toEqual(expected));

  test.each([
    "",
    "unix://",
    "unix:csi.sock",
    "csi.sock",
    "unix:////csi.sock",
    "//csi.sock",
    "tcp://host",
    "tcp://host:99999",
    "http://host:1",
  ])("refuses %j", (text) => {
    expect(() => parseEndpoint(text)).toThrow(CausewayError);
  });
});
