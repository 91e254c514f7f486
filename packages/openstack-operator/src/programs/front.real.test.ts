import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

vi.setConfig({ testTimeout: 60_000 });
const programs = join(import.meta.dirname, "../../programs");
/** As Debian has it, with the loggers that images built from source have. */
const UWSGI = ["uwsgi_python3", "--plugin", "logfile"];
const hasServer = spawnSync("uwsgi_python3", ["--plugin", "logfile", "--version"]).status === 0;

/** As Glance does, it takes a chunked body by uWSGI's own function. */
const APPLICATION = `
import json, time, uwsgi

def application(environ, start):
    size = 0
    if environ.get("HTTP_TRANSFER_ENCODING") == "chunked":
        while True:
            block = uwsgi.chunked_read()
            if not block:
                break
            size += len(block)
    else:
        while block := environ["wsgi.input"].read(65536):
            size += len(block)
    time.sleep(0.02)
    start("200 OK", [("Content-Type", "application/json")])
    yield json.dumps({"size": size, "scheme": environ["wsgi.url_scheme"], "path": environ["PATH_INFO"]}).encode()
`;

let dir = "";
let child: ChildProcess;
let port = 0;
const slow: Socket[] = [];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "front-real-"));
  writeFileSync(join(dir, "application.py"), APPLICATION);
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, done));
  ({ port } = server.address() as AddressInfo);
  await new Promise((done) => server.close(done));
  const socket = join(dir, "api.sock");
  const behind = [...UWSGI, "--ini", join(programs, "uwsgi.ini"), "--socket", socket];
  const args = ["-IS", join(programs, "front.py"), String(port), "-", "-", ...behind, "--module", "application"];
  child = spawn("python3", args, { cwd: dir, env: { ...process.env, FRONT_SOCKET: socket }, stdio: "ignore" });
  for (const end = Date.now() + 30_000; (await ask().catch(() => undefined))?.status !== 200;) {
    if (Date.now() > end) throw new Error("uWSGI does not respond");
    await new Promise((done) => setTimeout(done, 50));
  }
});

afterEach(async () => {
  for (const socket of slow.splice(0)) socket.destroy();
  if (child.exitCode === null && child.signalCode === null) {
    const closed = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGTERM");
    await closed;
  }
  rmSync(dir, { recursive: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

function ask(options: { method?: string; path?: string; body?: Buffer; chunked?: true } = {}): Promise<Answer> {
  const { method = "GET", path = "/", body, chunked } = options;
  const headers = body && !chunked ? { "Content-Length": body.length } : {};
  return new Promise((resolve, reject) => {
    const sent = request({ port, method, path, headers, agent: new Agent() }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk)));
      response.once("end", () => resolve({ status: response.statusCode, body: text }));
      response.once("error", reject);
    });
    sent.once("error", reject);
    if (body) for (let at = 0; at < body.length; at += 50_000) sent.write(body.subarray(at, at + 50_000));
    sent.end();
  });
}

describe.skipIf(!hasServer)("the front of an API without TLS, before a real uWSGI", () => {
  test("hands over requests without and with a body, of a known length and chunked", async () => {
    const answerOf = async (options: Parameters<typeof ask>[0]) => JSON.parse((await ask(options)).body) as unknown;
    expect(await answerOf({ path: "/v3/x" })).toEqual({ size: 0, scheme: "http", path: "/v3/x" });
    const body = Buffer.alloc(2_000_000, "a");
    expect(await answerOf({ method: "PUT", body })).toMatchObject({ size: body.length });
    expect(await answerOf({ method: "PUT", body, chunked: true })).toMatchObject({ size: body.length });
  });

  test("serves others while clients are slow in their headers", async () => {
    for (let count = 0; count < 20; count++) {
      const socket = connect(port, "127.0.0.1");
      slow.push(socket);
      socket.on("error", () => {});
      await new Promise((done) => socket.once("connect", done));
      socket.write("GET / HTTP/1.1\r\n");
    }
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test("ends the requests that it has when it is stopped, and none of them fails", async () => {
    const answers = Array.from({ length: 30 }, () => ask());
    await answers[0];
    const closed = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGTERM");
    for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
    expect(await closed).toBe(0);
  });
});
