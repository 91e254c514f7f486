import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { VirtualClock } from "@causeway/foundation";
import { Hono } from "hono";
import { afterEach, expect, test } from "vitest";
import type { Fault } from "../interface.ts";
import type { Kernel, Service } from "./interface.ts";
import { createKernel } from "./kernel.ts";
import { testCloud } from "../testing/kernel.ts";

interface Thing {
  readonly id: string;
  readonly name: string;
  readonly project_id: string;
  readonly tags?: readonly string[];
}

const folders: string[] = [];
function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "simulator-"));
  folders.push(dir);
  return dir;
}
afterEach(() => {
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

test("an index follows inserts, updates and removals, and arrays count by element", () => {
  const things = createKernel().table<Thing>("thing", ["name", "tags"]);
  things.insert({ id: "1", name: "a", project_id: "p", tags: ["x", "y"] });
  things.insert({ id: "2", name: "b", project_id: "p" });
  things.update("2", { name: "a", tags: ["y"] });
  expect(things.by("name", "a").map((t) => t.id)).toEqual(["1", "2"]);
  expect(things.by("tags", "y").map((t) => t.id)).toEqual(["1", "2"]);
  things.remove("1");
  expect(things.by("tags", "x")).toEqual([]);
  expect(things.by("name", "b")).toEqual([]);
  expect(things.all().map((t) => t.id)).toEqual(["2"]);
});

test("atomic work that throws changes nothing", () => {
  const kernel = createKernel();
  const things = kernel.table<Thing>("thing", ["name"]);
  things.insert({ id: "1", name: "a", project_id: "p" });
  const work = () => {
    things.update("1", { name: "b" });
    things.insert({ id: "2", name: "c", project_id: "p" });
    kernel.timers.after(0, "never", "");
    throw new Error("no");
  };
  expect(() => kernel.atomic(work)).toThrow("no");
  expect(things.all()).toEqual([{ id: "1", name: "a", project_id: "p" }]);
  expect(things.by("name", "a")).toHaveLength(1);
  expect(kernel.table("_agenda").all()).toEqual([]);
});

test("flushed changes are restored in the same order; unflushed changes are lost as after a kill", () => {
  const dir = folder();
  const first = createKernel({ dir });
  const things = first.table<Thing>("thing");
  for (const id of ["c", "a", "b"]) things.insert({ id, name: id, project_id: "p" });
  things.remove("a");
  things.update("c", { name: "cc" });
  first.flush();
  things.insert({ id: "late", name: "late", project_id: "p" });
  killed(first);
  const again = createKernel({ dir });
  expect(
    again
      .table<Thing>("thing")
      .all()
      .map((t) => t.name),
  ).toEqual(["cc", "b"]);
  expect(again.inventory("p")).toEqual(["thing b b", "thing c cc"]);
  again.close();
});

/** Closes the file without the flush of an orderly close. */
function killed(kernel: ReturnType<typeof createKernel>): void {
  kernel.store.flush = () => {};
  kernel.close();
}

test("a state of a newer version is refused with its version and ours", () => {
  const dir = folder();
  createKernel({ dir }).close();
  const database = new DatabaseSync(join(dir, "simulator.db"));
  database.exec("UPDATE settings SET value = '99' WHERE key = 'version'");
  database.close();
  expect(() => createKernel({ dir })).toThrow(expect.objectContaining({ code: "STATE_TOO_NEW" }));
});

test("a state folder belongs to one cloud at a time", () => {
  const dir = folder();
  const first = createKernel({ dir });
  expect(() => createKernel({ dir })).toThrow(expect.objectContaining({ code: "STATE_IN_USE", exitStatus: 2 }));
  first.close();
  createKernel({ dir }).close();
});

test("timers run entries at their instants, in order, and again after a restart those that came due meanwhile", async () => {
  const dir = folder();
  const clock = new VirtualClock();
  const ran: string[] = [];
  const open = () => {
    const kernel = createKernel({ dir, clock });
    kernel.timers.handler("note", (argument) => ran.push(`${argument}@${clock.now() - start}`));
    kernel.start();
    return kernel;
  };
  const start = clock.now();
  const first = open();
  first.timers.after(300, "note", "c");
  first.timers.after(100, "note", "a");
  first.timers.after(100, "note", "b");
  first.timers.after(0, "note", "now");
  await turn();
  expect(ran).toEqual(["now@0"]);
  await clock.advance(150);
  expect(ran).toEqual(["now@0", "a@100", "b@100"]);
  first.close();
  await clock.advance(1000);
  const second = open();
  await turn();
  expect(ran.at(-1)).toBe("c@1150");
  second.close();
});

function thingService(kernel: Kernel): Service {
  const things = kernel.table<Thing>("thing");
  const app: Service["app"] = new Hono();
  app.get("/", (c) => c.json({ versions: [] }));
  app.post("/things", async (c) => {
    const { name } = (await c.req.json()) as { name: string };
    const thing = things.insert({ id: kernel.newId(), name, project_id: c.get("caller").projectId });
    return c.json({ thing }, 202);
  });
  app.get("/boom", () => {
    throw new TypeError("boom");
  });
  return { type: "things", name: "thing", catalogPath: "", app };
}

const cloud = () => testCloud((kernel) => [{ root: "/things", service: thingService(kernel) }]);

test("a request without a token is 401, but for the version document; every request is logged", async () => {
  const { app, calls } = cloud();
  const refused = await app.request("/things/things", { method: "POST" });
  expect(refused.status).toBe(401);
  expect(refused.headers.get("www-authenticate")).toMatch(/^Keystone uri="/);
  expect((await app.request("/things")).status).toBe(200);
  expect(calls.records.map((c) => `${c.sequence} ${c.method} ${c.service} ${c.path} ${c.status}`)).toEqual([
    "1 POST things /things 401",
    "2 GET things  200",
  ]);
});

const faults: readonly [string, Fault, number, number][] = [
  ["before: the request never reaches the service", { when: "before", status: 503, body: { a: 1 } }, 503, 0],
  ["after: the request is done and its answer replaced", { when: "after", status: 500 }, 500, 1],
  ["cut after: the request is done and its answer lost", { when: "after", cut: true }, 502, 1],
];
test.each(faults)("a fault of the simulator: %s", async (_, fault, status, made) => {
  const test = cloud();
  test.faults.decide = (call) => (call.method === "POST" ? fault : undefined);
  const answer = await test.app.request("/things/things", {
    method: "POST",
    headers: { "x-auth-token": "demo" },
    body: JSON.stringify({ name: "x" }),
  });
  expect(answer.status).toBe(status);
  expect(test.kernel.inventory("demo")).toHaveLength(made);
});

test("fault rules skip and count", async () => {
  const test = cloud();
  test.faults.rules = [{ method: "POST", path: "^/things", skip: 1, times: 1, fault: { when: "before", status: 429 } }];
  const post = () => test.as("demo")("POST", "/things/things", { name: "x" });
  expect([await post(), await post(), await post()].map((a) => a.status)).toEqual([202, 429, 202]);
});

test("quotas have the services' defaults and are set by project", () => {
  const kernel = createKernel();
  expect(kernel.quota("p", "port")).toBe(5000);
  expect(kernel.quota("p", "l7policy")).toBe(-1);
  kernel.setQuota("p", "port", 1);
  expect([kernel.quota("p", "port"), kernel.quota("q", "port")]).toEqual([1, 5000]);
  kernel.setQuota("p", "port", undefined);
  expect(kernel.quota("p", "port")).toBe(5000);
});

test("outcomes are ordered by operation and name", () => {
  const kernel = createKernel();
  kernel.settings.outcomes = [{ operation: "server.*", name: "doomed", outcome: "error" }];
  expect(kernel.outcome("server.create", "fine", "doomed")).toBe("error");
  expect(kernel.outcome("server.create", "fine")).toBe("ok");
});
