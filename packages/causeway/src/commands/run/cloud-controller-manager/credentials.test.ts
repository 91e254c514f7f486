import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { get } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { startApiServer } from "@causeway/apiserver";
import { createLog, createMetrics, silentLog, systemClock } from "@causeway/foundation";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import { afterEach, expect, test } from "vitest";
import { selfSigned } from "../serving/self-signed.ts";
import { serveEndpoint } from "../serving/endpoint.ts";
import { readConfiguration } from "./configuration.ts";
import { Credentials } from "./credentials.ts";

/** What the identity service says of a refusal: none of it is for users of the cluster. */
const DETAILS = "project 4711 of user ccm-prod is disabled at identity-2.management.internal";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** An identity service that refuses each login. */
async function refusingCloud(): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(403, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { code: 403, title: "Forbidden", message: DETAILS } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3`;
}

const cloudConf = (url: string): string => {
  const dir = mkdtempSync(join(tmpdir(), "cloud-conf-"));
  closing.push(() => rmSync(dir, { recursive: true }));
  const path = join(dir, "cloud.conf");
  const login = ["username=ccm-prod", "password=p", "tenant-name=p", "domain-name=Default", "region=r"];
  writeFileSync(path, ["[Global]", `auth-url=${url}`, ...login, ""].join("\n"));
  return path;
};

/** As the manager serves it: /readyz is open. */
async function serveHealth(credentials: Credentials): Promise<number> {
  const endpoint = await serveEndpoint({
    address: "127.0.0.1",
    port: 0,
    certificate: await selfSigned(),
    minVersion: "TLSv1.2",
    metrics: createMetrics(),
    open: ["/healthz", "/livez", "/readyz"],
    guard: async () => "unknown",
    unready: () => credentials.refusal,
    log: silentLog,
  });
  closing.push(() => endpoint.close());
  return endpoint.port;
}

async function read(port: number, path: string): Promise<{ status: number | undefined; body: string }> {
  const sent = get({ host: "127.0.0.1", port, path, rejectUnauthorized: false, agent: false });
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response) };
}

test("readers of /readyz learn that the cloud refuses the credentials, and the log alone has the cloud's words", async () => {
  const url = await refusingCloud();
  const server = await startApiServer();
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  closing.push(
    () => server.close(),
    () => client.close(),
  );
  let logged = "";
  let isLogged = (): void => {};
  const refused = new Promise<void>((done) => (isLogged = done));
  const write = (line: string): void => {
    logged += line;
    if (line.includes("not leading")) isLogged();
  };
  const log = createLog({ level: "error", destination: { write } });
  const path = cloudConf(url);
  const credentials = new Credentials({ client, clock: systemClock, log, path, flags: { election: undefined } });
  const port = await serveHealth(credentials);
  const stop = new AbortController();
  const ended = credentials.whenAccepted(readConfiguration(path), stop.signal);
  await refused;
  const { status, body } = await read(port, "/readyz");
  stop.abort();
  await ended;
  expect([status, body]).toEqual([
    503,
    "not ready: the cloud refuses the credentials: they lack a role in their project.\n",
  ]);
  expect(logged).toContain(DETAILS);
});
