import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { steadyPorts } from "@causeway/foundation";
import { afterAll, expect, test } from "vitest";
import { portsOf } from "./ports.ts";

const dir = mkdtempSync(join(tmpdir(), "ports-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("a control plane gets four different ports, none in use or of a control plane that does not run", async () => {
  const user = createServer().listen(0, "127.0.0.1");
  await once(user, "listening");
  const used = (user.address() as AddressInfo).port;
  // Of those that no client gets: they remain free.
  const [others = 0, ...free] = new Set(steadyPorts(undefined, 32_768));
  for (const id of ["default.one", "default.two"]) mkdirSync(join(dir, id));
  writeFileSync(join(dir, "default.one/ports.json"), JSON.stringify({ api: 1, etcd: 2, peer: others }));
  writeFileSync(join(dir, "no-folder"), "");
  const wanted = { api: 0, host: "127.0.0.1" };
  const ports = await portsOf(join(dir, "default.two"), wanted, () => [used, others, ...free]);
  const found = new Set(Object.values(ports));
  expect(found.size).toBe(4);
  for (const port of found) expect(free).toContain(port);
  expect(await portsOf(join(dir, "default.two"), wanted)).toEqual(ports);
  user.close();
});
