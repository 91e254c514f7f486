/** Clusters that are created with a token of an application credential. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openStage, type Json, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ isFollower: true });
});
afterAll(() => stage.close());

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

/** A request to Keystone. */
async function keystone(method: string, path: string, token: string, body?: unknown): Promise<Reply> {
  const response = await fetch(`${stage.simulator.authUrl}${path}`, {
    method,
    headers: { "content-type": "application/json", "x-auth-token": token, "x-subject-token": token },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const { status, headers } = response;
  return { status, headers, body: text === "" ? {} : (JSON.parse(text) as Json) };
}

/** A token of a credential of demo's. */
async function tokenOf(unrestricted: boolean): Promise<string> {
  const own = stage.tokens.get("demo") ?? "";
  const { token } = (await keystone("GET", "/auth/tokens", own)).body as { token: { user: { id: string } } };
  const credential = { name: `unrestricted ${unrestricted}`, secret: "s", unrestricted };
  const path = `/users/${token.user.id}/application_credentials`;
  const made = await keystone("POST", path, own, { application_credential: credential });
  const { id } = made.body["application_credential"] as { id: string };
  const identity = { methods: ["application_credential"], application_credential: { id, secret: "s" } };
  const { headers } = await keystone("POST", "/auth/tokens", "", { auth: { identity } });
  return headers.get("x-subject-token") ?? "";
}

it.each<[string, boolean, number, RegExp]>([
  ["an unrestricted application credential creates a cluster", true, 202, /"uuid"/],
  ["a restricted one is refused, with what to use", false, 403, /Use a password, or an unrestricted application/],
])("%s", async (_, unrestricted, status, said) => {
  stage.tokens.set("credential", await tokenOf(unrestricted));
  const template = { coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small", external_network_id: "public" };
  const made = await stage.call("credential", "POST", "/v1/clustertemplates", { body: template });
  expect(made.status).toBe(201);
  const body = { cluster_template_id: made.body["uuid"] };
  const reply = await stage.call("credential", "POST", "/v1/clusters", { body });
  expect([reply.status, JSON.stringify(reply.body)]).toEqual([status, expect.stringMatching(said)]);
});
