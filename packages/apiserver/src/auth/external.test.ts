import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "@causeway/foundation";
import type { ApiServer, ApiServerOptions } from "../interface.ts";
import { startApiServer } from "../start.ts";
import type { ExternalAuthenticators } from "../contract/authentication.ts";
import { record } from "../json/json.ts";
import { rawClient } from "../testing/client.ts";

const SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

describe("an external authenticator", () => {
  const servers: ApiServer[] = [];
  const asked: string[] = [];
  let closed = 0;
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
    asked.length = 0;
    closed = 0;
  });

  const authenticators: ExternalAuthenticators = {
    badges: ({ office }) => ({
      verify(token) {
        asked.push(token);
        if (token === "away") return Promise.reject(new Error("the office is closed"));
        const user = { username: "anna", uid: "u1", groups: [String(office)], extra: { floor: ["2"] } };
        return Promise.resolve(token === "badge" ? user : undefined);
      },
      close: () => (closed += 1),
    }),
  };
  const external = { type: "badges", settings: { office: "berlin" } };

  async function start(options: ApiServerOptions): Promise<ApiServer> {
    const server = await startApiServer({ clock: systemClock, ...options });
    servers.push(server);
    return server;
  }

  async function who(server: ApiServer, token: string): Promise<{ code: number; user: unknown }> {
    const api = await rawClient(server.management, { token });
    const { code, body } = await api.call("POST", SELF, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "SelfSubjectReview",
    });
    api.close();
    return { code, user: record(record(body)["status"])["userInfo"] };
  }

  it("names users and their groups, and is called after the server's own authenticators", async () => {
    const server = await start({ authenticators, management: { authentication: { external } } });
    const { code, user } = await who(server, "badge");
    expect(code).toBe(201);
    expect(user).toMatchObject({
      username: "anna",
      uid: "u1",
      groups: ["berlin", "system:authenticated"],
      extra: { floor: ["2"] },
    });
    expect((await who(server, "other")).code).toBe(401);
    expect((await who(server, "away")).code).toBe(401);
    expect(asked).toEqual(["badge", "other", "away"]);
    await server.close();
    expect(closed).toBe(1);
  });

  it("that the server does not have is refused at the start", async () => {
    await expect(start({ management: { authentication: { external } } })).rejects.toMatchObject({
      code: "AUTHENTICATION_CONFIG_INVALID",
    });
  });
});
