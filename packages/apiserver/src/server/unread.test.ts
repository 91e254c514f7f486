import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { connect, type TLSSocket } from "node:tls";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { ApiServer } from "../interface.ts";
import { at, records, text, type Json } from "../json/json.ts";
import { startApiServer } from "../start.ts";
import { eventually, rawClient, type Raw } from "../testing/client.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const COUNT = 20;
const CLIENTS = 10;
/** What clients that do not read may cost: the objects are 20 MB, and were kept once for each of ten clients. */
const MOST = 30 * 1024 * 1024;

let server: ApiServer;
let api: Raw;
let identity: { ca: string; cert: string; key: string };

beforeAll(async () => {
  server = await startApiServer();
  api = await rawClient(server.management);
  const kubeconfig: unknown = parse(await server.management.kubeconfig());
  const user = records(at(kubeconfig, "users"))[0];
  const pem = (name: string): string => Buffer.from(text(at(user, "user", name)), "base64").toString();
  const ca = server.management.authority.certificate;
  identity = { ca, cert: pem("client-certificate-data"), key: pem("client-key-data") };
  for (let i = 0; i < COUNT; i += 1) {
    const body: Json = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `m${i}` },
      data: { a: "x".repeat(1_000_000) },
    };
    expect((await api.call("POST", MAPS, body)).code).toBe(201);
  }
}, 60_000);
afterAll(async () => {
  api.close();
  await server.close();
});

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1000));

function held(): number {
  setFlagsFromString("--expose_gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** What is kept for clients remains as long as they read nothing; what is being written at this moment does not. */
async function bounded(before: number): Promise<void> {
  await settled();
  await eventually(async () => (held() - before < MOST ? true : undefined));
}

/** HTTP/1.1 clients that send a request and read nothing. */
function silent(path: string, accept: string): Promise<TLSSocket[]> {
  const { port, hostname: host } = new URL(server.management.url);
  const one = (): Promise<TLSSocket> =>
    new Promise((resolve, reject) => {
      const socket = connect({ ...identity, host, port: Number(port) }, () => {
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\n\r\n`, () => resolve(socket));
      });
      socket.pause();
      socket.on("error", reject);
    });
  return Promise.all(Array.from({ length: CLIENTS }, one));
}

/** The same over HTTP/2, on one session. */
function silentHttp2(path: string, accept: string): ClientHttp2Session {
  const session = connectHttp2(server.management.url, identity);
  for (let i = 0; i < CLIENTS; i += 1) {
    const stream = session.request({ ":path": path, accept });
    stream.on("error", () => {});
    stream.pause();
  }
  return session;
}

describe("clients that never read cost a bounded amount", () => {
  test.each([
    ["watches", `${MAPS}?watch=true`, "application/json"],
    ["watches as tables", `${MAPS}?watch=true&includeObject=Object`, TABLE],
    ["watches of metadata", `${MAPS}?watch=true`, METADATA],
    ["lists", MAPS, "application/json"],
    ["selecting lists", `${MAPS}?labelSelector=!none`, "application/json"],
    ["lists as tables", `${MAPS}?includeObject=Object`, TABLE],
    ["lists as metadata", MAPS, METADATA_LIST],
    ["lists in YAML", MAPS, "application/yaml"],
  ])(
    "%s",
    async (_what, path, accept) => {
      const before = held();
      const sockets = await silent(path, accept);
      await bounded(before);
      for (const socket of sockets) socket.destroy();
      const session = silentHttp2(path, accept);
      await bounded(before);
      session.destroy();
      expect((await api.call("GET", `${MAPS}/m1`)).code).toBe(200);
    },
    60_000,
  );

  test("get 429 for new long lists beyond that amount", async () => {
    const sockets: TLSSocket[] = [];
    for (let i = 0; i < 7; i += 1) sockets.push(...(await silent(MAPS, "application/json")));
    const refused = await eventually(async () => {
      const answer = await api.call("GET", MAPS);
      return answer.code === 200 ? undefined : answer;
    });
    expect([refused.code, refused.headers["retry-after"]]).toEqual([429, "1"]);
    expect((await api.call("GET", `${MAPS}/m1`)).code).toBe(429);
    expect((await api.call("GET", "/api/v1/namespaces")).code).toBe(200);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => ((await api.call("GET", `${MAPS}/m1`)).code === 200 ? true : undefined));
  }, 60_000);
});

test("a long list is whole in every form", async () => {
  const { body } = await api.call("GET", MAPS);
  const found = records(body["items"]);
  expect([body["kind"], found.length, text(at(found[7], "data", "a")).length]).toEqual([
    "ConfigMapList",
    COUNT + 1,
    1_000_000,
  ]);
  const table = (await api.call("GET", MAPS, undefined, { accept: TABLE })).body;
  expect([records(table["rows"]).length, records(table["columnDefinitions"]).length]).toEqual([COUNT + 1, 3]);
  const page = (await api.call("GET", `${MAPS}?limit=7`)).body;
  expect([records(page["items"]).length, at(page, "metadata", "remainingItemCount")]).toEqual([7, COUNT - 6]);
  const next = (await api.call("GET", `${MAPS}?limit=7&continue=${text(at(page, "metadata", "continue"))}`)).body;
  expect(at(records(next["items"])[0], "metadata", "name")).not.toBe(at(records(page["items"])[6], "metadata", "name"));
  const yaml = await api.call("GET", `${MAPS}?limit=3`, undefined, { accept: "application/yaml" });
  const read = parse(text(yaml.body["text"])) as Json;
  expect([read["kind"], records(read["items"]).length, at(read, "metadata", "remainingItemCount")]).toEqual([
    "ConfigMapList",
    3,
    COUNT - 2,
  ]);
  const pretty = (await api.call("GET", `${MAPS}?pretty=true`)).body;
  expect(records(pretty["items"])).toEqual(found);
}, 60_000);

test("a list is of one revision, whatever is written while it is read", async () => {
  const reading = api.call("GET", MAPS);
  for (let i = 0; i < 10; i += 1) await api.call("DELETE", `${MAPS}/m${COUNT - 1 - i}`);
  const { code, body } = await reading;
  const later = await api.call(
    "GET",
    `${MAPS}?resourceVersionMatch=Exact&resourceVersion=${text(at(body, "metadata", "resourceVersion"))}`,
  );
  expect([code, later.code]).toEqual([200, 200]);
  expect(body["items"]).toEqual(later.body["items"]);
}, 60_000);
