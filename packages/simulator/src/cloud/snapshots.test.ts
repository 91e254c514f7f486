import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@causeway/foundation";
import { afterEach, describe, expect, test } from "vitest";
import { at, textAt } from "../kernel/json.ts";
import { startClient, type Client } from "../testing-client.ts";
import type { SimulatorOptions } from "../interface.ts";

const running: Client[] = [];

async function started(options: SimulatorOptions = {}): Promise<Client> {
  const client = await startClient(options, "demo");
  running.push(client);
  return client;
}

afterEach(async () => {
  for (const { simulator } of running.splice(0)) await simulator.close();
});

const control = (client: Client, path: string, body: object) => client.call("POST", `/_control/${path}`, body);
const networks = async (client: Client) => {
  const { body } = await client.call("GET", "/network/v2.0/networks");
  return (at(body, "networks") as readonly unknown[]).map((each) => textAt(each, "name"));
};
const idOf = async (client: Client, name: string) => {
  const { body } = await client.call("GET", `/network/v2.0/networks?name=${name}`);
  return textAt((at(body, "networks") as readonly unknown[])[0], "id") ?? "";
};
const create = async (client: Client, name: string) => {
  const { status } = await client.call("POST", "/network/v2.0/networks", { network: { name } });
  expect(status).toBe(201);
};

describe("a snapshot of the cloud", () => {
  test("puts back what was there, in its order, under the token of before and of after", async () => {
    const client = await started();
    await create(client, "first");
    await create(client, "second");
    const before = await networks(client);
    const inventory = client.simulator.inventory();
    expect((await control(client, "snapshots", { name: "base" })).status).toBe(200);
    const id = await idOf(client, "first");
    expect((await client.call("DELETE", `/network/v2.0/networks/${id}`)).status).toBe(204);
    await create(client, "third");
    expect(await networks(client)).not.toEqual(before);
    expect((await control(client, "snapshots/restore", { name: "base" })).status).toBe(200);
    expect(await networks(client)).toEqual(before);
    expect(client.simulator.inventory()).toEqual(inventory);
  });

  test("continues with what was under way when it was created", async () => {
    const clock = new VirtualClock();
    const client = await started({ clock, delays: { "volume.create": 60_000 } });
    const { body } = await client.call("POST", `/volume/v3/${client.projectId}/volumes`, { volume: { size: 1 } });
    const path = `/volume/v3/${client.projectId}/volumes/${textAt(body, "volume", "id")}`;
    const status = async () => textAt((await client.call("GET", path)).body, "volume", "status");
    const back = client.simulator.snapshot("creating");
    await clock.advance(61_000);
    expect(await status()).toBe("available");
    back();
    expect(await status()).toBe("creating");
    await clock.advance(59_000);
    expect(await status()).toBe("creating");
    await clock.advance(2_000);
    expect(await status()).toBe("available");
  });

  test("is kept by the state folder when it was restored", async () => {
    const dir = mkdtempSync(join(tmpdir(), "snapshots-"));
    try {
      const client = await started({ dir });
      await create(client, "kept");
      const back = client.simulator.snapshot("base");
      await create(client, "lost");
      back();
      await client.simulator.close();
      running.length = 0;
      const { simulator } = await started({ dir, port: 0 });
      expect(simulator.inventory().filter((line) => /^network .* (kept|lost)$/.test(line))).toEqual([
        expect.stringMatching(/ kept$/),
      ]);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test.each<[string, string, object, number]>([
    ["an unknown name", "snapshots/restore", { name: "none" }, 404],
    ["a name of slashes", "snapshots", { name: "../x" }, 400],
    ["no name", "snapshots", {}, 400],
    ["a clock that goes back", "clock", { advance: -1 }, 400],
    ["a clock that is not a number", "clock", { advance: "1h" }, 400],
  ])("refuses %s", async (_what, path, body, status) => {
    expect((await control(await started(), path, body)).status).toBe(status);
  });

  test("is refused beyond 32, and created again under a name that is there", async () => {
    const client = await started();
    for (let i = 0; i < 32; i++) expect((await control(client, "snapshots", { name: `s${i}` })).status).toBe(200);
    expect((await control(client, "snapshots", { name: "more" })).status).toBe(409);
    expect((await control(client, "snapshots", { name: "s0" })).status).toBe(200);
    expect((await control(client, "snapshots/delete", { name: "s0" })).status).toBe(200);
    expect((await control(client, "snapshots", { name: "more" })).status).toBe(200);
  });
});

test("a clock that is put forward lets a token expire, and ends what was under way", async () => {
  const client = await started({ delays: { "volume.create": 3_000_000 } });
  const { body } = await client.call("POST", `/volume/v3/${client.projectId}/volumes`, { volume: { size: 1 } });
  const path = `/volume/v3/${client.projectId}/volumes/${textAt(body, "volume", "id")}`;
  await control(client, "clock", { advance: 3_001 });
  await new Promise(setImmediate);
  expect(textAt((await client.call("GET", path)).body, "volume", "status")).toBe("available");
  await control(client, "clock", { advance: 24 * 3600 });
  expect((await client.call("GET", path)).status).toBe(401);
});
