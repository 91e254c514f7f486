import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import type { Json } from "../json/json.ts";
import { startListener, type TestResponse, type TestListener } from "../testing/https.ts";
import { createWebhookClient, type WebhookClient } from "./webhook-client.ts";

const LIMIT = 3 * 1024 * 1024;
let listener: TestListener;
let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "webhook-"));
  listener = await startListener();
});
afterAll(() => {
  listener.close();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(() => {
  listener.asked.length = 0;
  listener.answer = () => [200, '{"a":1}'];
});

const trusted = (): Json => ({ "certificate-authority-data": Buffer.from(listener.ca).toString("base64") });

function fileOf(cluster: Json, user: Json = {}): string {
  const path = join(dir, "kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: listener.url, ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

async function using<T>(file: string, work: (client: WebhookClient) => Promise<T>): Promise<T> {
  const client = createWebhookClient(file);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

const posted = (file: string, body = "{}", timeout = 60_000): Promise<Json> =>
  using(file, (client) => client.post(body, { timeout }));

const failure = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined).catch((e: unknown) => e);

describe("a webhook's client", () => {
  test("posts JSON, and reads JSON", async () => {
    expect(await posted(fileOf(trusted()), '{"ä":1}')).toEqual({ a: 1 });
    const [asked] = listener.asked;
    expect(asked).toMatchObject({ method: "POST", body: '{"ä":1}' });
    expect(asked?.headers).toMatchObject({
      accept: "application/json",
      "content-type": "application/json",
      "content-length": "8",
    });
    expect(asked?.headers.authorization).toBeUndefined();
  });

  test("sends a token, or what is in a file of one at the time", async () => {
    const tokenFile = join(dir, "token");
    writeFileSync(tokenFile, "from-file\n");
    await posted(fileOf(trusted(), { token: "given" }));
    await using(fileOf(trusted(), { tokenFile }), async (client) => {
      await client.post("{}", { timeout: 60_000 });
      writeFileSync(tokenFile, "changed");
      await client.post("{}", { timeout: 60_000 });
    });
    const sent = listener.asked.map((a) => a.headers.authorization);
    expect(sent).toEqual(["Bearer given", "Bearer from-file", "Bearer changed"]);
  });

  test.each<[TestResponse, Json]>([
    [[200, '{"a":1}'], { a: 1 }],
    [[201, '{"a":1}'], { a: 1 }],
    [[299, "{}"], {}],
    [[200, "[1]"], {}],
    [[200, "nothing"], {}],
    [[200, ""], {}],
  ])("takes %j for %j", async (given, expected) => {
    listener.answer = () => given;
    expect(await posted(fileOf(trusted()))).toEqual(expected);
  });

  test.each([300, 400, 500])("fails when the answer is %i", async (status) => {
    listener.answer = () => [status, "{}"];
    expect(await failure(posted(fileOf(trusted())))).toMatchObject({
      code: "WEBHOOK_FAILED",
      message: `the webhook at ${new URL(listener.url).host} failed: it returned ${status}`,
      hint: "Check that the webhook is up, and that the kubeconfig has its CA and credentials that it accepts.",
    });
  });

  test("reads as much as the longest answer, and no more", async () => {
    const answer = (size: number): string => `{"a":"${"x".repeat(size - 8)}"}`;
    listener.answer = () => [200, answer(LIMIT)];
    expect(String((await posted(fileOf(trusted())))["a"]).length).toBe(LIMIT - 8);
    listener.answer = () => [200, answer(LIMIT + 1)];
    const error = await failure(posted(fileOf(trusted())));
    expect(error).toMatchObject({ message: expect.stringContaining(`its answer is longer than ${LIMIT} bytes`) });
  });

  test("waits no longer than it is given, and no longer than it is wanted", async () => {
    listener.answer = () => undefined;
    const timedOut = await failure(posted(fileOf(trusted()), "{}", 20));
    expect(timedOut).toMatchObject({ code: "WEBHOOK_FAILED", cause: expect.anything() });
    const closing = new AbortController();
    const pending = using(fileOf(trusted()), (client) =>
      client.post("{}", { timeout: 60_000, signal: closing.signal }),
    );
    closing.abort();
    expect(await failure(pending)).toMatchObject({ code: "WEBHOOK_FAILED" });
  });

  test("fails when the connection ends within the answer", async () => {
    listener.answer = () => [200, '{"a"', "cut"];
    expect(await failure(posted(fileOf(trusted())))).toMatchObject({ code: "WEBHOOK_FAILED" });
  });

  test("fails when the response switches protocols", async () => {
    listener.answer = () => [101, "", "switch"];
    expect(await failure(posted(fileOf(trusted())))).toMatchObject({
      message: expect.stringContaining("its response switches protocols, which was not requested"),
    });
  });

  test("fails when informational responses come again and again", async () => {
    listener.answer = () => [200, "{}", "hints"];
    expect(await failure(posted(fileOf(trusted())))).toMatchObject({
      message: expect.stringContaining("it has more than 5 informational responses"),
    });
  });

  test("keeps its connection", async () => {
    const before = listener.connections();
    await using(fileOf(trusted()), async (client) => {
      await client.post("{}", { timeout: 60_000 });
      await client.post("{}", { timeout: 60_000 });
    });
    expect(listener.connections() - before).toBe(1);
  });

  test("shows the certificate that the kubeconfig has", async () => {
    const authority = await createAuthority({ commonName: "clients", lifetime: 3_600_000 });
    const subject = { commonName: "api-server", usages: ["client"], lifetime: 3_600_000 } as const;
    const { certificate, key } = await issueCertificate(authority, subject);
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const user = { "client-certificate-data": base64(certificate), "client-key-data": base64(key) };
    await posted(fileOf(trusted(), user));
    await posted(fileOf(trusted()));
    expect(listener.asked.map((a) => a.client)).toEqual(["api-server", undefined]);
  });

  test("trusts a certificate that is no authority's own", async () => {
    const leaf = Buffer.from(listener.certificate).toString("base64");
    expect(await posted(fileOf({ "certificate-authority-data": leaf }))).toEqual({ a: 1 });
  });

  test("trusts whom the kubeconfig trusts", async () => {
    expect(await failure(posted(fileOf({})))).toMatchObject({ code: "WEBHOOK_FAILED" });
    expect(await posted(fileOf({ "insecure-skip-tls-verify": true }))).toEqual({ a: 1 });
    expect(await posted(fileOf({ ...trusted(), "tls-server-name": "hook.test" }))).toEqual({ a: 1 });
    const other = await failure(posted(fileOf({ ...trusted(), "tls-server-name": "other.test" })));
    expect(other).toMatchObject({ code: "WEBHOOK_FAILED" });
  });

  test.each<[string, () => string]>([
    ["without TLS", () => fileOf({ server: "http://127.0.0.1:1" })],
    [
      "that runs a command",
      () => fileOf(trusted(), { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "x" } }),
    ],
  ])("is not made of a kubeconfig %s", (_what, file) => {
    const path = file();
    expect(() => createWebhookClient(path)).toThrow(
      expect.objectContaining({
        code: "WEBHOOK_CONFIG_INVALID",
        message: `${path} does not lead to a webhook`,
        hint: "Specify an https:// server, and a user with a certificate or a token; commands are not run.",
      }),
    );
  });
});
