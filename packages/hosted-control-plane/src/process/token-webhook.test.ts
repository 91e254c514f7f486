import { createServer, type AddressInfo } from "node:net";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTokenWebhook, type TokenWebhook } from "./token-webhook.ts";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

describe("the webhook of tokens", () => {
  const closed: string[] = [];
  const authenticator = (name: string) => ({
    async verify(token: string) {
      if (token === "down") throw new Error("Keystone is away");
      return token === name ? { username: "ada", uid: "1", groups: ["team"], extra: { project: ["p"] } } : undefined;
    },
    close: () => void closed.push(name),
  });
  let webhook: TokenWebhook;
  beforeEach(async () => {
    closed.length = 0;
    webhook = await startTokenWebhook(await freePort(), authenticator("first"));
  });
  afterEach(() => webhook.close());

  const review = async (token: unknown, text = webhook.kubeconfig): Promise<unknown> => {
    const client = createClient(loadKubeconfig({ text }));
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } };
    try {
      const { status } = (await client.request("POST", "/", { body })) as { status?: unknown };
      return status;
    } finally {
      await client.close();
    }
  };

  test("answers with the user of a token", async () => {
    const user = { username: "ada", uid: "1", groups: ["team"], extra: { project: ["p"] } };
    expect(await review("first")).toEqual({ authenticated: true, user });
  });

  test.for<[string, unknown, object]>([
    ["that is unknown", "other", { authenticated: false }],
    ["that is no text", 5, { authenticated: false }],
    ["that cannot be verified now", "down", { authenticated: false, error: "Keystone is away" }],
  ])("refuses a token %s", async ([, token, status]) => {
    expect(await review(token)).toEqual(status);
  });

  test("verifies by the newest settings, and closes what it had", async () => {
    webhook.use(authenticator("second"));
    expect(closed).toEqual(["first"]);
    expect(await review("first")).toEqual({ authenticated: false });
    expect(await review("second")).toMatchObject({ authenticated: true });
  });

  test("answers no client without its certificate, and no request that is too long", async () => {
    const { certificate: _, key: __, ...anyone } = loadKubeconfig({ text: webhook.kubeconfig });
    const client = createClient(anyone);
    await expect(client.request("POST", "/", { body: {} })).rejects.toThrow();
    await client.close();
    await expect(review("x".repeat(300_000))).rejects.toThrow();
    expect(await review("first")).toMatchObject({ authenticated: true });
  });
});
