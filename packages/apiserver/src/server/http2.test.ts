import { connect, type ClientHttp2Session } from "node:http2";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import type { ApiServer } from "../interface.ts";
import { at, records, text, type Json } from "../json/json.ts";
import { startApiServer } from "../start.ts";

let dir: string;
let server: ApiServer;
let session: ClientHttp2Session;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "http2-"));
  const policy = {
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    rules: [{ level: "RequestResponse", userGroups: ["system:masters"] }],
  };
  server = await startApiServer({ management: { audit: { policy, log: { file: join(dir, "audit.log") } } } });
  const kubeconfig: unknown = parse(await server.management.kubeconfig());
  const user = records(at(kubeconfig, "users"))[0];
  const pem = (name: string): string => Buffer.from(text(at(user, "user", name)), "base64").toString();
  session = connect(server.management.url, {
    ca: server.management.authority.certificate,
    cert: pem("client-certificate-data"),
    key: pem("client-key-data"),
  });
});
afterEach(async () => {
  session.close();
  await server.close();
  rmSync(dir, { recursive: true, force: true });
});

function call(
  method: string,
  path: string,
  headers: Record<string, string | string[]> = {},
  body?: unknown,
): Promise<Json> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": method,
      ":path": path,
      "content-type": "application/json",
      ...headers,
    });
    let answer = "";
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => (answer += chunk));
    stream.on("error", reject);
    stream.on("end", () =>
      resolve(answer.startsWith('{"type"') ? { text: answer } : (JSON.parse(answer || "{}") as Json)),
    );
    stream.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function events(id: string, count: number): Promise<Json[]> {
  const found = (): Json[] =>
    readFileSync(join(dir, "audit.log"), "utf8")
      .split("\n")
      .filter((l) => l.includes(id))
      .map((l) => JSON.parse(l) as Json);
  await expect.poll(() => found().length).toBe(count);
  return found();
}

test("requests over HTTP/2 are recorded with their answers", async () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  await call("POST", "/api/v1/namespaces/default/configmaps", { "audit-id": "created" }, map);
  const [, after] = await events("created", 2);
  expect(after).toMatchObject({
    stage: "ResponseComplete",
    sourceIPs: ["127.0.0.1"],
    responseStatus: { code: 201 },
    responseObject: { kind: "ConfigMap", metadata: { name: "a" } },
  });
});

test("a watch over HTTP/2 is recorded when it begins, before there is an event to send", async () => {
  await call("GET", "/api/v1/namespaces/default/secrets?watch=true&timeoutSeconds=1", { "audit-id": "watched" });
  const stages = (await events("watched", 3)).map((e) => e["stage"]);
  expect(stages).toEqual(["RequestReceived", "ResponseStarted", "ResponseComplete"]);
});

test("impersonated groups over HTTP/2 are separate values, whatever characters they have", async () => {
  const headers = { "impersonate-user": "jane", "impersonate-group": ["a, b", "c"] };
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const answer = await call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", headers, review);
  expect(at(answer, "status", "userInfo", "groups")).toEqual(["a, b", "c", "system:authenticated"]);
});

test.each([
  ["/version", 200],
  ["/api/v1/namespaces", 405],
  ["/nowhere", 404],
])("a HEAD of %s over HTTP/2 gets its status %d", async (path, status) => {
  const stream = session.request({ ":method": "HEAD", ":path": path });
  const answered = new Promise<unknown>((resolve, reject) => {
    stream.on("response", (headers) => resolve(headers[":status"]));
    stream.on("error", reject);
  });
  expect(await answered).toBe(status);
});

test.each([
  ["DELETE", "/api/v1/namespaces/default/configmaps/none", 404],
  ["POST", "/api/v1/namespaces/default/configmaps", 400],
])("a %s over HTTP/2 that ends with its head gets a response", async (method, path, status) => {
  const stream = session.request({ ":method": method, ":path": path }, { endStream: true });
  const answered = new Promise<unknown>((resolve, reject) => {
    stream.on("response", (headers) => resolve(headers[":status"]));
    stream.on("error", reject);
  });
  expect(await answered).toBe(status);
});
