import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkResourceKit } from "./resource-kit.ts";

const root = mkdtempSync(join(tmpdir(), "resource-kit-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
mkdirSync(join(root, "sources/service"), { recursive: true });
const write = (file: string, ...routes: readonly string[]): void =>
  writeFileSync(join(root, "sources/service", file), routes.map((route) => `  app.${route}, () => {});\n`).join(""));
write("by-hand.ts", 'get("/things"', 'post("/things"', 'get("/things/:id"', 'delete("/things/:id"');
write("with-a-name.ts", "get(path", "post(path", "get(`${path}/:id`", "delete(`${path}/:id`");
write("pairs.ts", "get(path", "post(path", "get(`${path}/:key`", "delete(`${path}/:key`");
write("read-only.ts", 'get("/things"', 'get("/things/:id"');
write("actions.ts", 'post("/things/:id/action"', 'get("/things/:id/action"');

test("the check of simulated resources refuses list, show, create and delete that are written by hand", () => {
  expect(checkResourceKit(root, {}, "sources")).toEqual([
    "sources/service/by-hand.ts writes the routes of /things by hand; use mountResource or mountKeyValues",
    "sources/service/pairs.ts writes the routes of ${path} by hand; use mountResource or mountKeyValues",
    "sources/service/with-a-name.ts writes the routes of ${path} by hand; use mountResource or mountKeyValues",
  ]);
});

test("the check of simulated resources accepts exceptions, and refuses those without such routes", () => {
  const exceptions = {
    "service/by-hand.ts": "x",
    "service/pairs.ts": "x",
    "service/with-a-name.ts": "x",
    "service/read-only.ts": "x",
  };
  expect(checkResourceKit(root, exceptions, "sources")).toEqual([
    "scripts/resource-kit.ts: remove service/read-only.ts from the exceptions: it writes no such routes",
  ]);
});
