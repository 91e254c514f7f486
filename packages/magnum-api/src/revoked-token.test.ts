/** Tokens that are revoked at Keystone, where each request is checked, as in `causeway up`. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { issueToken, loadCloudsYaml } from "@causeway/openstack";
import { openStage, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ isFollower: true, tokenRecheck: 0 });
});
afterAll(() => stage.close());

it("a revoked token is refused by the next request, and others are not held up by the number of checks", async () => {
  const { simulator, tokens } = stage;
  const { token } = await issueToken(loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml }));
  tokens.set("short", token);
  const statusOf = async (who: string) => (await stage.call(who, "GET", "/v1/clusters")).status;
  const before = await Promise.all(Array.from({ length: 40 }, () => statusOf("short")));
  expect([...new Set(before)]).toEqual([200]);
  const headers = { "x-auth-token": token, "x-subject-token": token };
  const revoked = await fetch(`${simulator.authUrl}/auth/tokens`, { method: "DELETE", headers });
  expect([revoked.status, await statusOf("short"), await statusOf("demo")]).toEqual([204, 401, 200]);
});
