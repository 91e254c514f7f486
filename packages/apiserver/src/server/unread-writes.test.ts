import { connect, type ClientHttp2Session } from "node:http2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import type { ApiServer, LogicalCluster } from "../interface.ts";
import { at, records, text } from "../json/json.ts";
import { startApiServer } from "../start.ts";
import { eventually, rawClient, type Raw } from "../testing/client.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const BODY = JSON.stringify({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { generateName: "m-", annotations: { b: "x".repeat(250_000) } },
  data: { a: "x".repeat(1_000_000) },
});
/** More writes than may wait for a client to read them. */
const MOST = 80;
const TOO_LONG = 60_000;

let server: ApiServer;
let noisy: { readonly cluster: LogicalCluster; readonly api: Raw };
let quiet: { readonly cluster: LogicalCluster; readonly api: Raw };

beforeAll(async () => {
  server = await startApiServer();
  const made = async (name: string): Promise<typeof noisy> => {
    const cluster = await server.ensureCluster(name, { listen: { host: "127.0.0.1", port: 0, names: [] } });
    return { cluster, api: await rawClient(cluster) };
  };
  noisy = await made("noisy");
  quiet = await made("quiet");
  expect((await quiet.api.call("POST", MAPS, { ...JSON.parse(BODY), metadata: { name: "large" } })).code).toBe(201);
}, TOO_LONG);
afterAll(async () => {
  noisy.api.close();
  quiet.api.close();
  await server.close();
});

/** An HTTP/2 session of a cluster's administrator. */
async function sessionOf({ cluster }: typeof noisy): Promise<ClientHttp2Session> {
  const kubeconfig: unknown = parse(await cluster.kubeconfig());
  const user = records(at(kubeconfig, "users"))[0];
  const pem = (value: unknown): string => Buffer.from(text(value), "base64").toString();
  const session = connect(cluster.url, {
    ca: pem(at(records(at(kubeconfig, "clusters"))[0], "cluster", "certificate-authority-data")),
    cert: pem(at(user, "user", "client-certificate-data")),
    key: pem(at(user, "user", "client-key-data")),
  });
  session.on("error", () => {});
  return session;
}

/** Sends a write and reads nothing of its answer but the status. */
function silentWrite(session: ClientHttp2Session): Promise<number> {
  return new Promise((resolve) => {
    const path = `${MAPS}?dryRun=All`;
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/json" });
    stream.on("error", () => {});
    stream.on("response", (headers) => resolve(headers[":status"] ?? 0));
    stream.pause();
    stream.end(BODY);
  });
}

test(
  "writes whose answers are not read are refused to their cluster beyond its share, and other clusters are served",
  async () => {
    const dryRun = (of: typeof noisy): Promise<number> =>
      of.api.call("POST", `${MAPS}?dryRun=All`, { ...JSON.parse(BODY), data: {} }).then(({ code }) => code);
    const sessions: ClientHttp2Session[] = [];
    let code = 201;
    let held = 0;
    // A session has a window, and a limit of memory, of its own.
    for (; code === 201 && held < MOST; held += 1) {
      const session = await sessionOf(noisy);
      sessions.push(session);
      code = await silentWrite(session);
    }
    expect(code).toBe(429);
    expect(held * BODY.length).toBeGreaterThan(64 * 1024 * 1024);
    expect([await dryRun(quiet), (await quiet.api.call("GET", `${MAPS}/large`)).code]).toEqual([201, 200]);
    // Small reads of the cluster are served; and writes again, once its clients have read or gone.
    expect((await noisy.api.call("GET", "/api/v1/namespaces/default")).code).toBe(200);
    for (const session of sessions) session.destroy();
    await eventually(async () => ((await dryRun(noisy)) === 201 ? true : undefined));
  },
  TOO_LONG,
);
