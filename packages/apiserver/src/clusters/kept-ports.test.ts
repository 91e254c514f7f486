import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, silentLog, steadyPorts, systemClock } from "@causeway/foundation";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { stateFiles } from "../store/state-files.ts";
import type { ListenerOptions } from "../server/listener.ts";
import { anywhere } from "./endpoint.ts";
import { KeptPorts } from "./kept-ports.ts";
import { ServerState } from "./server-state.ts";

let dir: string;
const open: ServerState[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "kept-ports-"));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(open.splice(0).map((state) => state.close()));
  rmSync(dir, { recursive: true, force: true });
});

/** As a worker process has it, next to others. */
async function worker(name: string): Promise<ServerState> {
  const settings = { dir: join(dir, name), around: dir, tenants: "only", clock: systemClock, log: silentLog } as const;
  const state = new ServerState(settings);
  open.push(state);
  await state.open();
  return state;
}
const at = (port: number, host = "127.0.0.1") => ({ listen: { host, port, names: [] } });

/** Has every choice of a port be this one, as far as it is one of steadyPorts. */
function choose(port: number): void {
  vi.spyOn(Math, "random").mockReturnValue(0);
  const [first = 0] = steadyPorts();
  vi.mocked(Math.random).mockReturnValue(1 - Number.EPSILON);
  const [last = 0] = steadyPorts();
  vi.mocked(Math.random).mockReturnValue((port - first + 0.5) / (last - first + 1));
}

test("a new cluster gets no port of one that is not served, in its worker or in another one", async () => {
  const one = await worker("1");
  const { port = 0 } = await one.ensureCluster("web", at(0));
  await one.close();
  choose(port);
  const two = await worker("2");
  const other = await two.ensureCluster("shop", at(0));
  expect(other.port).not.toBe(port);
  vi.mocked(Math.random).mockRestore();
  // It comes back at its own.
  expect((await worker("1")).cluster("web")?.port).toBe(port);
});

test("a port that is requested and that another cluster has is refused, unless it is of another address", async () => {
  const one = await worker("1");
  const { port = 0 } = await one.ensureCluster("web", at(0));
  await one.close();
  const two = await worker("2");
  for (const host of ["127.0.0.1", "0.0.0.0"])
    await expect(two.ensureCluster("shop", at(port, host))).rejects.toMatchObject({
      code: "APISERVER_PORT_TAKEN",
      message: `port ${port} of ${host} is kept for cluster web`,
    });
  expect(two.cluster("shop")).toBeUndefined();
  expect((await two.ensureCluster("shop", at(port, "127.0.0.2"))).port).toBe(port);
});

test("a new cluster is refused where each port that is found is another one's, and none is in use afterwards", async () => {
  const steady = new Set(steadyPorts());
  const tried: number[] = [];
  const others = {
    has: (port: number) => {
      // The steady ports are judged before one is opened.
      if (!steady.has(port)) tried.push(port);
      return true;
    },
  };
  const certificate = await createAuthority({ commonName: "a", lifetime: 3600_000 });
  const pool = {} as ListenerOptions["pool"];
  const options = { host: "127.0.0.1", certificate, handler: () => {}, accepted: () => {}, pool, isManagement: false };
  const opened = anywhere(options, others);
  await expect(opened).rejects.toMatchObject({ code: "APISERVER_NO_FREE_PORT", details: { host: "127.0.0.1" } });
  expect(tried.length).toBeGreaterThan(0);
});

test("ports of others are read again only where they were written, and are gone with their cluster", () => {
  const files = stateFiles(dir);
  const read = vi.spyOn(files, "read");
  for (const name of ["a", "b", "left"]) files.write(`clusters/${name}/port`, "1");
  for (const name of ["a", "b"]) files.write(`clusters/${name}/cluster.json`, "{}");
  files.write("clusters/b/port", "2");
  const ports = new KeptPorts(files, undefined);
  expect([...ports.others("c")]).toEqual([1, 2]);
  read.mockClear();
  expect([...ports.others("a")]).toEqual([2]);
  expect([...ports.others("c")]).toEqual([1, 2]);
  expect(read).not.toHaveBeenCalled();
  files.write("clusters/a/port", "3");
  files.remove("clusters/b");
  expect([...ports.others("c")]).toEqual([3]);
  expect(ports.ownerOf({ host: "127.0.0.1", port: 3 }, "c")).toBe("a");
  expect(read.mock.calls.filter(([file]) => file.endsWith("/port"))).toEqual([["clusters/a/port"]]);
});

test("the port of a removed cluster is free again, also one that its request names", async () => {
  const state = await worker("1");
  const { port = 0 } = await state.ensureCluster("web", at(0));
  await state.removeCluster("web");
  expect((await state.ensureCluster("shop", at(port))).port).toBe(port);
});
