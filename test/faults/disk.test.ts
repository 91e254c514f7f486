/** What the API server says when its disk takes no more: the truth, and it continues when there is room again. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Api, Json } from "./durability/api.ts";
import { Clientele, ServerProcess } from "./durability/server.ts";
import { noSmallDisk, SmallDisk } from "./durability/small-disk.ts";

const PATH = "/api/v1/namespaces/default/configmaps";
const PAD = "x".repeat(100_000);

let dir: string;
let server: ServerProcess;
let clientele: Clientele;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "disk-"));
  clientele = new Clientele();
});
afterEach(async () => {
  await server.kill();
  rmSync(dir, { recursive: true, force: true });
});

async function begin(child?: ConstructorParameters<typeof ServerProcess>[0]): Promise<Api> {
  server = new ServerProcess(child);
  const clients = await clientele.open(await server.serve(dir));
  return clients.get("") as Api;
}

function create(api: Api, name: string, pad = PAD): ReturnType<Api["send"]> {
  return api.send("POST", PATH, { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { pad } });
}

interface Shown {
  readonly names: readonly string[];
  readonly revision: string;
}

/** Our objects, all of them whole. */
async function shown(api: Api): Promise<Shown> {
  const { body } = await api.send("GET", PATH);
  const { items, metadata } = body as unknown as {
    items: { metadata: { name: string }; data: { pad: string } }[];
    metadata: { resourceVersion: string };
  };
  const ours = items.filter((i) => i.metadata.name.startsWith("m"));
  for (const { data } of ours) expect([PAD.length, 1]).toContain(data.pad.length);
  return { names: ours.map((i) => i.metadata.name), revision: metadata.resourceVersion };
}

/** Creates objects until one is refused; answers the names that were acknowledged, and the refusal. */
async function untilRefused(api: Api): Promise<{ names: string[]; refusal: Json }> {
  const names: string[] = [];
  for (let i = 100; i < 400; i += 1) {
    const { code, body } = await create(api, `m${i}`);
    if (code !== 201) return { names, refusal: { ...body, code } };
    names.push(`m${i}`);
  }
  throw new Error("the disk took everything");
}

function watched(api: Api, revision: string): string[] {
  const events: string[] = [];
  api.lines(`${PATH}?watch=1&resourceVersion=${revision}`, (line) => {
    const { type, object } = JSON.parse(line) as { type: string; object: { metadata: { name: string } } };
    events.push(`${type} ${object.metadata.name}`);
  });
  return events;
}

const REFUSAL = {
  code: 500,
  reason: "InternalError",
  message: expect.stringMatching(/the state could not be written/),
};

const reason = noSmallDisk();
describe.skipIf(reason !== undefined)(`a disk that is full${reason === undefined ? "" : ` (${reason})`}`, () => {
  let disk: SmallDisk;
  beforeEach(async () => {
    disk = await SmallDisk.mount(dir, 16);
  });
  afterEach(() => disk.unmount());

  test("refuses what it cannot keep, keeps what it acknowledged over a kill, and continues when there is room", async () => {
    // The second start writes what the first left for it; from then on a start writes nothing.
    (await begin(disk.fork())).close();
    await server.kill();
    let api = await begin(disk.fork());
    disk.fill("ballast", 4);
    const events = watched(api, (await shown(api)).revision);
    const { names, refusal } = await untilRefused(api);
    expect(refusal).toMatchObject(REFUSAL);
    expect(names.length).toBeGreaterThan(10);
    const full = await shown(api);
    expect(full.names).toEqual(names);
    expect(events).toEqual(names.map((n) => `ADDED ${n}`));
    await server.kill();
    api.close();

    api = await begin(disk.fork());
    expect((await shown(api)).names).toEqual(names);
    expect(Number((await shown(api)).revision)).toBeGreaterThanOrEqual(Number(full.revision));
    disk.remove("ballast");
    expect(await create(api, "m999")).toMatchObject({ code: 201 });
    expect((await shown(api)).names).toEqual([...names, "m999"]);
    api.close();
  });
});

const frozen = (): string[] => ["state.sqlite", "state.sqlite-wal"].map((file) => join(dir, file));
const freeze = (): number | null => spawnSync("chattr", ["+i", ...frozen()]).status;
const thaw = (): number | null => spawnSync("chattr", ["-i", ...frozen()]).status;
const canFreeze = ((): boolean => {
  const file = join(mkdtempSync(join(tmpdir(), "freeze-")), "file");
  writeFileSync(file, "");
  const done = spawnSync("chattr", ["+i", file]).status === 0;
  spawnSync("chattr", ["-i", file]);
  rmSync(dirname(file), { recursive: true });
  return done;
})();
describe.skipIf(!canFreeze)(`files that cannot be written${canFreeze ? "" : " (needs root and chattr)"}`, () => {
  afterEach(thaw);

  test("refuse writes, let reads and watches continue, and take writes again once they can", async () => {
    const api = await begin();
    expect(await create(api, "m1", "x")).toMatchObject({ code: 201 });
    const before = await shown(api);
    const events = watched(api, before.revision);
    expect(freeze()).toBe(0);
    const refused = await create(api, "m2", "x");
    expect({ ...refused.body, code: refused.code }).toMatchObject(REFUSAL);
    expect((await api.send("DELETE", `${PATH}/m1`)).code).toBe(500);
    expect(await shown(api)).toEqual(before);
    expect(thaw()).toBe(0);
    expect(await create(api, "m3", "x")).toMatchObject({ code: 201 });
    expect((await shown(api)).names).toEqual(["m1", "m3"]);
    expect(events).toEqual(["ADDED m3"]);
    api.close();
  });

  test("end a start with a reason", async () => {
    (await begin()).close();
    await server.kill();
    expect(freeze()).toBe(0);
    server = new ServerProcess();
    await expect(server.serve(dir)).rejects.toThrow(/state\.sqlite/);
  });
});
