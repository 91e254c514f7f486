import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog, steadyPorts, systemClock } from "@causeway/foundation";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
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

test("the port of a removed cluster is free again, also one that its request names", async () => {
  const state = await worker("1");
  const { port = 0 } = await state.ensureCluster("web", at(0));
  await state.removeCluster("web");
  expect((await state.ensureCluster("shop", at(port))).port).toBe(port);
});
