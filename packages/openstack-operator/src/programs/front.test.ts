import { createAuthority, issueCertificate } from "@causeway/foundation";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectPlain, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { freePort } from "../testing/commands.ts";

vi.setConfig({ testTimeout: 60_000 });
const program = join(import.meta.dirname, "../../programs/front.py");
const python = spawnSync("python3", ["-c", "import ssl"]).status === 0;

/** Represents uWSGI with one worker, or with many: it says what it got, and how long its body was. */
const WORKER = `
import json, os, signal, socket, struct, sys, threading, time
signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b"stopped\\n"), os._exit(0)))
listener = socket.socket(socket.AF_UNIX); listener.bind(os.environ["FRONT_SOCKET"]); listener.listen(int(os.environ.get("BACKLOG", "100")))
def read(connection, count):
    data = b""
    while len(data) < count:
        block = connection.recv(count - len(data))
        if not block: break
        data += block
    return data
def serve(connection):
    _, size, _ = struct.unpack("<BHB", read(connection, 4))
    data, variables = read(connection, size), {}
    while data:
        pair = []
        for _ in range(2):
            (length,) = struct.unpack("<H", data[:2]); pair.append(data[2:2 + length].decode("latin-1")); data = data[2 + length:]
        variables[pair[0]] = pair[1]
    body = read(connection, int(variables.get("CONTENT_LENGTH", "0")))
    if "HTTP_TRANSFER_ENCODING" in variables:
        while not body.endswith((b"0\\r\\n\\r\\n", b"a: b\\r\\n\\r\\n")):
            block = connection.recv(65536)
            if not block: break
            body += block
    os.write(1, b"request\\n")
    if variables["QUERY_STRING"].startswith("wait="): time.sleep(float(variables["QUERY_STRING"][5:]))
    size = int(variables["QUERY_STRING"][5:]) if variables["QUERY_STRING"].startswith("size=") else 0
    text = "x" * size if size else json.dumps({"body": len(body), **variables})
    try: connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\n" + text.encode())
    except OSError: pass
    connection.close()
while True:
    connection, _ = listener.accept()
    if "WORKERS" in os.environ: threading.Thread(target=serve, args=(connection,), daemon=True).start()
    else: serve(connection)
`;

let dir = "";
/** The front serves plain HTTP. */
let isPlain = false;
let child: ChildProcess | undefined;
let port = 0;
let said = "";
let connections = 0;
const open: Socket[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "front-"));
  const now = Date.now();
  const lifetime = 3_600_000;
  const authority = await createAuthority({ commonName: "authority", lifetime, now });
  const pair = await issueCertificate(authority, {
    commonName: "api",
    dnsNames: ["api"],
    usages: ["server"],
    lifetime,
    now,
  });
  writeFileSync(join(dir, "ca.crt"), authority.certificate);
  writeFileSync(join(dir, "tls.crt"), pair.certificate);
  writeFileSync(join(dir, "tls.key"), pair.key, { mode: 0o600 });
  writeFileSync(join(dir, "worker.py"), WORKER);
});
afterAll(() => rmSync(dir, { recursive: true }));
afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((resolve) => child?.once("close", resolve));
  child.kill("SIGTERM");
  await closed;
});

async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; !(await check());) {
    if (Date.now() > end) throw new Error(`never came: ${check.toString()}; ${said}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

async function start(env: Record<string, string> = {}): Promise<void> {
  port = await freePort();
  said = "";
  const pair = isPlain ? ["-", "-"] : [join(dir, "tls.crt"), join(dir, "tls.key")];
  const args = [program, String(port), ...pair, "python3", join(dir, "worker.py")];
  child = spawn("python3", ["-IS", ...args], {
    env: { ...process.env, FRONT_SOCKET: join(dir, "api.sock"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout?.on("data", (chunk) => (said += String(chunk)));
  child.stderr?.on("data", (chunk) => (said += String(chunk)));
  await until(async () => (await ask("GET / HTTP/1.1\r\n\r\n").catch(() => "")).includes("200 OK"));
  // What the worker says of that request may come after its response.
  await until(() => said.includes("request"));
  said = "";
}

/** The event after which a client of `connectTo` may send. */
const connected = () => (isPlain ? "connect" : "secureConnect");

function connectTo(options: { localAddress?: string; allowHalfOpen?: boolean } = {}): Socket {
  const to = { port, host: "127.0.0.1", ...options };
  const secured = { ...to, servername: "api", ca: readFileSync(join(dir, "ca.crt")) };
  const socket = isPlain ? connectPlain(to) : connect(secured);
  open.push(socket);
  return socket;
}

/** What a request gets, as a whole. */
function ask(text: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTo();
    let answer = "";
    socket.once(connected(), () => connections++);
    socket.on("data", (chunk) => (answer += String(chunk)));
    socket.once("error", reject);
    socket.once("close", () => resolve(answer));
    socket.write(text);
  });
}

const bodyOf = (answer: string): Record<string, unknown> =>
  JSON.parse(answer.split("\r\n\r\n").at(-1) ?? "") as Record<string, unknown>;

const LONG = "Content-Length: 1000000\r\n";
const SLOW = {
  handshake: "",
  headers: "GET / HTTP/1.1\r\n",
  body: "POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n",
  // The worker has these, and waits for the client.
  "long body": `POST / HTTP/1.1\r\n${LONG}\r\n`,
  chunks: "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n0\r\n\r\n",
  "silent body": `POST / HTTP/1.1\r\n${LONG}\r\n`,
  "long response": "GET /?size=64000000 HTTP/1.1\r\n\r\n",
};

/** A client that has its response, or does not read it, and leaves its connection as it is. */
async function lingers(path: string, reads: boolean): Promise<void> {
  const socket = connectTo({ allowHalfOpen: true });
  socket.on("error", () => {});
  if (reads) socket.resume();
  await new Promise((done) => socket.once(connected(), done));
  const before = said.length;
  socket.write(`GET ${path} HTTP/1.1\r\n\r\n`);
  await until(() => said.length > before);
}

/** A client that is slow in its handshake, its headers or its body; the promise ends when it is dropped. */
function slow(in_: keyof typeof SLOW, localAddress = "127.0.0.1"): { dropped: Promise<void>; started: Promise<void> } {
  const started = Promise.withResolvers<void>();
  const plain = in_ === "handshake";
  const socket = plain ? connectPlain(port, "127.0.0.1") : connectTo({ localAddress });
  if (plain) open.push(socket);
  let drip: NodeJS.Timeout | undefined;
  socket.once(plain ? "connect" : connected(), () => {
    if (plain) socket.write(Buffer.from("1603010200010001fc0303", "hex"));
    else socket.write(SLOW[in_]);
    // It is never silent for long.
    if (!plain && in_ !== "silent body") drip = setInterval(() => socket.write("x: y\r\n"), 100);
    started.resolve();
  });
  socket.on("error", () => {});
  if (in_ !== "long response") socket.resume();
  const dropped = new Promise<void>((resolve) =>
    socket.once("close", () => {
      clearInterval(drip);
      started.resolve();
      resolve();
    }),
  );
  return { dropped, started: started.promise };
}

describe.skipIf(!python).each([
  ["with TLS", false],
  ["without TLS", true],
])("the front of an API %s", (_, plain) => {
  beforeAll(() => {
    isPlain = plain;
  });

  test("hands a request over as it is, with what the worker has to know of it", async () => {
    await start();
    const answer = await ask(
      "POST /v3/a%20b?c=d HTTP/1.1\r\nHost: api:5000\r\nContent-Type: text/plain\r\nX_Auth_Token: no\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 3\r\n\r\nabc",
    );
    expect(bodyOf(answer)).toMatchObject({
      body: 3,
      REQUEST_METHOD: "POST",
      PATH_INFO: "/v3/a b",
      QUERY_STRING: "c=d",
      REQUEST_URI: "/v3/a%20b?c=d",
      HTTP_HOST: "api:5000",
      HTTP_X_A: "1, 2",
      CONTENT_TYPE: "text/plain",
      REQUEST_SCHEME: isPlain ? "http" : "https",
      REMOTE_ADDR: "127.0.0.1",
      SERVER_PORT: String(port),
    });
    expect(bodyOf(answer)["HTTPS"]).toBe(isPlain ? undefined : "on");
    expect(bodyOf(answer)).not.toHaveProperty("HTTP_X_AUTH_TOKEN");
  });

  test("passes long bodies, chunked ones and long responses, and lets a client that waits continue", async () => {
    await start();
    const long = Buffer.alloc(3_000_000, "a");
    const posted = Buffer.concat([Buffer.from(`PUT / HTTP/1.1\r\nContent-Length: ${long.length}\r\n\r\n`), long]);
    expect(bodyOf(await ask(posted))).toMatchObject({ body: long.length });
    const chunks = "5\r\nabcde\r\n0\r\n\r\n";
    const chunked = await ask(`PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`);
    expect(bodyOf(chunked)).toMatchObject({ body: chunks.length, HTTP_TRANSFER_ENCODING: "chunked" });
    expect((await ask("GET /?size=3000000 HTTP/1.1\r\n\r\n")).split("\r\n\r\n")[1]).toHaveLength(3_000_000);
    const waits = await ask("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab");
    expect(waits).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
    expect(bodyOf(waits)).toMatchObject({ body: 2 });
  });

  test.each([
    ["no protocol", "GET /\r\n\r\n", "400 Bad Request"],
    ["a header without a name", "GET / HTTP/1.1\r\n: x\r\n\r\n", "400 Bad Request"],
    ["two lengths", "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400 Bad Request"],
    [
      "a length and chunks",
      "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "400 Bad Request",
    ],
    ["headers without an end", `GET / HTTP/1.1\r\nx: ${"y".repeat(80_000)}`, "431 Request Header Fields Too Large"],
  ])("refuses %s, and no worker gets it", async (_name, text, status) => {
    await start();
    expect(await ask(text)).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`));
    expect(said).toBe("");
  });

  test("keeps slow clients from the worker, and drops them when their time is over", async () => {
    await start({ FRONT_HEADER_SECONDS: "3", FRONT_BODY_SECONDS: "3" });
    const clients = (["handshake", "headers", "body"] as const).flatMap((kind) => [slow(kind), slow(kind), slow(kind)]);
    await Promise.all(clients.map(({ started }) => started));
    expect(await ask("GET / HTTP/1.1\r\n\r\n")).toContain("200 OK");
    await Promise.all(clients.map(({ dropped }) => dropped));
    // The request alone was one for the worker.
    expect(said).toBe("request\n");
  });

  test("drops the oldest connection where there are too many, and serves the others", async () => {
    await start({ FRONT_CONNECTIONS: "4", FRONT_HEADER_SECONDS: "600", FRONT_BODY_SECONDS: "600" });
    const clients = Array.from({ length: 12 }, () => slow("headers"));
    await Promise.all(clients.map(({ started }) => started));
    expect(await ask("GET / HTTP/1.1\r\n\r\n")).toContain("200 OK");
    await clients[0]?.dropped;
  });

  test.each([
    ["leave their connections open after it", "/", true],
    ["do not read a response that is whole", "/?size=200000", false],
  ])("serves others while more clients than it takes %s", { timeout: 30_000 }, async (_name, path, reads) => {
    await start({ FRONT_CONNECTIONS: "4" });
    for (let count = 0; count < 6; count++) await lingers(path, reads);
    expect(await ask("GET / HTTP/1.1\r\n\r\n")).toContain("200 OK");
  });

  test.each(["long body", "chunks", "silent body", "long response"] as const)(
    "drops a client whose %s is slower than the least rate, and frees its worker",
    { timeout: 30_000 },
    async (kind) => {
      await start({ FRONT_IDLE_SECONDS: "2", FRONT_RATE: "1000000" });
      const client = slow(kind);
      await client.started;
      // Its worker is the only one.
      const answer = ask("GET / HTTP/1.1\r\n\r\n");
      if (kind !== "long response") await client.dropped;
      expect(await answer).toContain("200 OK");
    },
  );

  test("takes a body that is not slow, whose worker thinks for longer than a client may", async () => {
    await start({ FRONT_IDLE_SECONDS: "1", FRONT_RATE: "1000" });
    const chunks = `7d000;x\r\n${"a".repeat(0x7d000)}\r\n5\r\nabcde\r\n0\r\na: b\r\n\r\n`;
    const chunked = ask(`PUT /?wait=3 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`);
    const sized = ask(`PUT /?wait=3 HTTP/1.1\r\nContent-Length: 500000\r\n\r\n${"a".repeat(500_000)}`);
    for (const answer of await Promise.all([chunked, sized])) expect(answer).toContain("200 OK");
  });

  test("drops a client of the address with the most connections, before an older one of another address", async () => {
    await start({ FRONT_CONNECTIONS: "4", FRONT_HEADER_SECONDS: "600" });
    const first = slow("headers", "127.0.0.2");
    await first.started;
    let isDropped = false;
    void first.dropped.then(() => (isDropped = true));
    const others = Array.from({ length: 12 }, () => slow("headers"));
    await Promise.all(others.map(({ started }) => started));
    expect(await ask("GET / HTTP/1.1\r\n\r\n")).toContain("200 OK");
    expect(isDropped).toBe(false);
  });

  test("drops no client that has just begun for another one while workers have the other requests", async () => {
    await start({ FRONT_CONNECTIONS: "4", WORKERS: "many" });
    const answers = Array.from({ length: 3 }, () => ask("GET /?wait=3 HTTP/1.1\r\n\r\n"));
    await until(() => said === "request\n".repeat(3));
    const begun = connectTo();
    let answer = "";
    begun.on("data", (chunk) => (answer += String(chunk)));
    begun.on("error", () => {});
    const closed = new Promise((done) => begun.once("close", done));
    await new Promise((done) => begun.once(connected(), done));
    begun.write("GET / HTTP/1.1\r\n");
    expect(await ask("GET / HTTP/1.1\r\n\r\n")).toContain("200 OK");
    begun.write("\r\n");
    await closed;
    expect(answer).toContain("200 OK");
    for (const each of await Promise.all(answers)) expect(each).toContain("200 OK");
  });

  test("ends the requests that it has before it stops, and takes no other ones", async () => {
    await start();
    connections = 0;
    const answers = Array.from({ length: 3 }, () => ask("GET /?wait=0.5 HTTP/1.1\r\n\r\n"));
    await until(() => said.includes("request") && connections === answers.length);
    const closed = new Promise((resolve) => child?.once("close", resolve));
    child?.kill("SIGTERM");
    for (const answer of await Promise.all(answers)) expect(answer).toContain("200 OK");
    expect(await closed).toBe(0);
    expect(said).toBe("request\nrequest\nrequest\nstopped\n");
    await expect(ask("GET / HTTP/1.1\r\n\r\n")).rejects.toThrow(/ECONNREFUSED/);
  });

  test("lets requests wait where the worker has more of them than it takes", async () => {
    await start({ BACKLOG: "1", FRONT_REQUESTS: "2" });
    const answers = Array.from({ length: 12 }, () => ask("GET /?wait=0.05 HTTP/1.1\r\n\r\n"));
    for (const answer of await Promise.all(answers)) expect(answer).toContain("200 OK");
  });

  test("reports how long requests took, by method and status, and how many clients it has dropped", async () => {
    const metrics = await freePort();
    const env = { DEPLOYMENT: "openstack/cloud", COMPONENT: "glance-api", FRONT_HEADER_SECONDS: "1" };
    await start({ ...env, FRONT_METRICS: String(metrics) });
    const read = async () => (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    const own = 'deployment="openstack/cloud",component="glance-api"';
    const gets = `{${own},method="GET",code="200"`;
    const before = Number(/_count\{.*method="GET".*\} (\d+)/.exec(await read())?.[1]);
    await ask("GET /?wait=0.5 HTTP/1.1\r\n\r\n");
    await ask("BREW / HTTP/1.1\r\n\r\n");
    const said_ = await read();
    expect(said_).toContain(`causeway_openstack_api_request_duration_seconds_count${gets}} ${before + 1}`);
    expect(said_).toContain(`causeway_openstack_api_request_duration_seconds_bucket${gets},le="0.3"} ${before}`);
    expect(said_).toContain(`causeway_openstack_api_request_duration_seconds_bucket${gets},le="+Inf"} ${before + 1}`);
    expect(said_).toContain(
      `causeway_openstack_api_request_duration_seconds_count{${own},method="other",code="200"} 1`,
    );
    expect(said_).toContain(`causeway_openstack_api_dropped_total{${own}} 0`);
    await slow("headers").dropped;
    // The client sees its end before the front has counted it.
    await until(async () => (await read()).includes(`causeway_openstack_api_dropped_total{${own}} 1\n`));
  });

  test("reports metrics to a next client when one never ends its request, however often it sends a byte", async () => {
    const metrics = await freePort();
    await start({ FRONT_METRICS: String(metrics), FRONT_METRICS_SECONDS: "1" });
    const client = connectPlain(metrics, "127.0.0.1");
    open.push(client);
    client.on("error", () => {});
    await new Promise((done) => client.once("connect", done));
    client.write("GET /metrics HTTP/1.1\r\nx: ");
    const drip = setInterval(() => client.write("y"), 100);
    client.once("close", () => clearInterval(drip));
    const dropped = new Promise((done) => client.once("close", done));
    const answer = await fetch(`http://127.0.0.1:${metrics}/metrics`);
    expect(await answer.text()).toContain("causeway_openstack_api_connections");
    await dropped;
  });

  test("ends when its worker does", async () => {
    await start();
    const closed = new Promise((resolve) => child?.once("close", resolve));
    const found = spawnSync("pgrep", ["-P", String(child?.pid)], { encoding: "utf8" }).stdout.trim();
    process.kill(Number(found), "SIGKILL");
    expect(await closed).not.toBe(0);
  });
});
