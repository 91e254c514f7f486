import { afterEach, describe, expect, it } from "vitest";
import { closeAll, failure, inTurn, start } from "../testing/connected.ts";
import { PASSWORD } from "../testing/scripted-cloud.ts";

afterEach(closeAll);
const networks = { body: { networks: [] } };

describe("Keystone tokens of a session", () => {
  it("are requested once for concurrent callers", async () => {
    const { server, cloud } = await start(inTurn(networks));
    await Promise.all([cloud.network.networks.all(), cloud.network.networks.all(), cloud.projectId()]);
    expect(server.count("POST", "/auth/tokens")).toBe(1);
    expect(cloud.region).toBe("R1");
  });

  it("are renewed before they expire", async () => {
    const { server, cloud, clock } = await start(inTurn(networks), { lifetime: 600 });
    await cloud.network.networks.all();
    clock.pass(470_000);
    await cloud.network.networks.all();
    expect(server.count("POST", "/auth/tokens")).toBe(1);
    clock.pass(20_000);
    await cloud.network.networks.all();
    expect(server.count("POST", "/auth/tokens")).toBe(2);
  });

  it("are renewed once for all callers when a service refuses them", async () => {
    const { server, cloud } = await start(({ path, headers }) =>
      path.startsWith("/identity") ? undefined : headers["x-auth-token"] === "token-1" ? { status: 401 } : networks,
    );
    await Promise.all(Array.from({ length: 5 }, () => cloud.network.networks.all()));
    expect(server.count("POST", "/auth/tokens")).toBe(2);
  });

  it("are not requested again and again when the service refuses new ones, too", async () => {
    const { server, cloud } = await start(inTurn({ status: 401 }));
    expect((await failure(cloud.network.networks.all())).code).toBe("OPENSTACK_UNAUTHORIZED");
    expect(server.count("POST", "/auth/tokens")).toBe(2);
  });

  it("that are refused for a wrong password give a hint, and delay the next attempt", async () => {
    const auth = { type: "password", username: "demo", password: "hunter2" } as const;
    const { server, cloud, clock } = await start(inTurn(networks), { config: { auth } });
    const error = await failure(cloud.network.networks.all());
    expect(error).toMatchObject({
      code: "OPENSTACK_UNAUTHORIZED",
      hint: expect.stringContaining("username, password"),
    });
    await failure(cloud.network.networks.all());
    expect(server.count("POST", "/auth/tokens")).toBe(1);
    clock.pass(5_001);
    await failure(cloud.network.networks.all());
    expect(server.count("POST", "/auth/tokens")).toBe(2);
  });

  it("of application credentials are requested without a scope", async () => {
    const auth = { type: "application_credential", id: "ac-1", secret: PASSWORD } as const;
    const { server, cloud } = await start(inTurn(networks), { config: { auth } });
    await cloud.projectId();
    expect(server.seen[0]?.body).toEqual({
      auth: {
        identity: { methods: ["application_credential"], application_credential: { id: "ac-1", secret: PASSWORD } },
      },
    });
  });

  it("of a deleted application credential are refused, which Keystone says with 404", async () => {
    const gone = { error: { code: 404, message: "Could not find Application Credential: x." } };
    const { cloud } = await start(() => ({ status: 404, body: gone }));
    expect((await failure(cloud.projectId())).code).toBe("OPENSTACK_UNAUTHORIZED");
  });
  it("cannot be obtained from an address that is not Keystone's", async () => {
    const { cloud } = await start(() => ({ status: 404, body: "no such page" }));
    expect(await failure(cloud.projectId())).toMatchObject({
      code: "CLOUD_CONFIG_INVALID",
      hint: expect.stringContaining("auth_url"),
    });
  });

  it("continue to be requested when one of the callers aborts", async () => {
    const { cloud } = await start(inTurn(networks));
    const controller = new AbortController();
    const impatient = cloud.projectId({ signal: controller.signal });
    const patient = cloud.projectId();
    controller.abort(new Error("enough"));
    await expect(impatient).rejects.toThrow("enough");
    expect(await patient).toBe("p-1");
  });
});

describe("the catalog", () => {
  it("lists services under any of their names", async () => {
    const { cloud } = await start(inTurn(networks));
    expect(await cloud.has("load-balancer")).toBe(true);
    expect(await cloud.has("block-storage")).toBe(true);
    expect(await cloud.has("key-manager")).toBe(false);
  });
  it("without a service makes its calls fail with the name of the service", async () => {
    const { cloud } = await start(inTurn(networks), { config: { interface: "internal" } });
    expect((await failure(cloud.network.networks.all())).code).toBe("OPENSTACK_NO_SERVICE");
  });
  it("without the region fails with the names of its regions", async () => {
    const { cloud } = await start(inTurn(networks), { config: { region: "Mars" } });
    expect(await failure(cloud.projectId())).toMatchObject({
      code: "CLOUD_REGION_NOT_FOUND",
      hint: expect.stringContaining("R1"),
    });
  });
});
