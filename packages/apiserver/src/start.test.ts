import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "@causeway/foundation";
import { afterEach, describe, expect, test } from "vitest";
import type { ApiServer } from "./interface.ts";
import { at } from "./json/json.ts";
import { startApiServer } from "./start.ts";
import { rawClient } from "./testing/client.ts";
import { WIDGETS, widget } from "./testing/widgets.ts";

const running: ApiServer[] = [];
const folders: string[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((s) => s.close()));
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

async function start(options: Parameters<typeof startApiServer>[0] = {}): Promise<ApiServer> {
  const server = await startApiServer(options);
  running.push(server);
  return server;
}

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "apiserver-"));
  folders.push(dir);
  return dir;
}

const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { a: "b" } });

describe("the server", () => {
  test("continues after a restart: the same addresses, roots, clusters and objects", async () => {
    const dir = folder();
    const first = await start({ dir, crds: [WIDGETS] });
    const made = await first.ensureCluster("demo", { listen: { host: "127.0.0.1", port: 0, names: ["demo.example"] } });
    const client = await rawClient(made);
    expect((await client.call("POST", "/api/v1/namespaces/default/configmaps", map("kept"))).code).toBe(201);
    client.close();
    const { url, authority } = made;
    const management = first.management.url;
    await first.close();
    const second = await start({ dir, crds: [WIDGETS] });
    const again = second.cluster("demo");
    expect(again).toMatchObject({ url, authority });
    expect(second.management.url).toBe(management);
    if (!again) throw new Error("no cluster");
    const next = await rawClient(again);
    const found = await next.call("GET", "/api/v1/namespaces/default/configmaps/kept");
    expect(found.body).toMatchObject({ data: { a: "b" } });
    next.close();
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, "clusters/demo/ca.key")).mode & 0o777).toBe(0o600);
  });

  test("closes at once though watches are open", async () => {
    const server = await start();
    const client = await rawClient(server.management);
    const watch = await client.open("/api/v1/configmaps?watch=1");
    const begun = performance.now();
    await server.close();
    await watch.ended;
    expect(performance.now() - begun).toBeLessThan(10_000);
    client.close();
  });

  test("says which port is in use", async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, "127.0.0.1", resolve));
    const { port } = blocker.address() as AddressInfo;
    await expect(startApiServer({ port })).rejects.toMatchObject({ code: "APISERVER_PORT_TAKEN", details: { port } });
    await new Promise((resolve) => blocker.close(resolve));
  });

  test("comes back at the port that it found before, once the process that has it meanwhile has ended", async () => {
    const dir = folder();
    const { port } = new URL((await start({ dir })).management.url);
    await running.pop()?.close();
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(Number(port), "127.0.0.1", resolve));
    const warned: string[] = [];
    const warn = (message: string) => void (warned.push(message), blocker.close());
    const again = await start({ dir, log: { ...silentLog, warn } });
    expect(new URL(again.management.url).port).toBe(port);
    expect(warned).toEqual(["another process has the port; it is tried again for ten seconds"]);
  });

  test("refuses a state folder that another server has open", async () => {
    const dir = folder();
    await start({ dir });
    await expect(startApiServer({ dir })).rejects.toMatchObject({ code: "STATE_LOCKED" });
  });
});

test("a damaged page of the state file is reported with a code and what to do", async () => {
  const dir = folder();
  const server = await start({ dir });
  await server.close();
  const path = join(dir, "state.sqlite");
  const content = readFileSync(path);
  // All but the first page: the file is still one of SQLite's, and of ours.
  content.fill(0xab, 4096);
  writeFileSync(path, content);
  await expect(startApiServer({ dir })).rejects.toMatchObject({
    code: "STATE_CORRUPT",
    hint: expect.stringContaining("backup"),
  });
});

describe("logical clusters", () => {
  test("know nothing of each other's objects, CRDs and users", async () => {
    const server = await start({ crds: [WIDGETS] });
    const demo = await server.ensureCluster("demo");
    expect(demo.url).toBe(`${server.management.url}/clusters/demo`);
    const [here, there] = await Promise.all([rawClient(server.management), rawClient(demo)]);
    expect((await here.call("POST", "/apis/example.com/v1/namespaces/default/widgets", widget("a"))).code).toBe(201);
    expect((await there.call("GET", "/apis/example.com/v1/widgets")).code).toBe(404);
    await there.call("POST", "/api/v1/namespaces/default/configmaps", map("mine"));
    expect((await here.call("GET", "/api/v1/namespaces/default/configmaps/mine")).code).toBe(404);
    const strayed = await here.call("GET", "/clusters/demo/api/v1/namespaces");
    expect([strayed.code, strayed.body["reason"]]).toEqual([401, "Unauthorized"]);
    here.close();
    there.close();
  });

  test("are made once, and removed with all that is in them", async () => {
    const server = await start();
    const options = { serviceCidr: "10.128.0.0/16", version: "v1.33.2" };
    const [one, two] = await Promise.all([
      server.ensureCluster("demo", options),
      server.ensureCluster("demo", options),
    ]);
    expect(two.authority).toEqual(one.authority);
    const client = await rawClient(one);
    expect((await client.call("GET", "/version")).body["gitVersion"]).toBe("v1.33.2");
    const service = await client.call("GET", "/api/v1/namespaces/default/services/kubernetes");
    expect(at(service.body, "spec", "clusterIP")).toBe("10.128.0.1");
    await server.removeCluster("demo");
    expect((await client.call("GET", "/version")).code).toBe(401);
    await server.removeCluster("demo");
    expect(server.cluster("demo")).toBeUndefined();
    client.close();
  });

  test("keep their endpoint when a start requests what they cannot be", async () => {
    const server = await start();
    const listen = { host: "127.0.0.1", port: 0, names: [] };
    const client = await rawClient(await server.ensureCluster("demo", { listen, version: "v1.34.0" }));
    const taken = Number(new URL(server.management.url).port);
    for (const [options, code] of [
      [{ version: "1.34.1" }, "APISERVER_VERSION_INVALID"],
      [{ serviceCidr: "10.0.0.0/33" }, "APISERVER_CIDR_INVALID"],
      [{ authority: { certificate: "none", key: "none" } }, "APISERVER_AUTHORITY_INVALID"],
      [{ listen: { ...listen, port: taken } }, "APISERVER_PORT_TAKEN"],
    ] as const) {
      await expect(server.ensureCluster("demo", options)).rejects.toMatchObject({ code });
      expect((await client.call("GET", "/version")).body["gitVersion"]).toBe("v1.34.0");
    }
    client.close();
  });

  test("are refused with a code when their options make no sense", async () => {
    const server = await start();
    await expect(server.ensureCluster("Not A Name")).rejects.toMatchObject({ code: "APISERVER_NAME_INVALID" });
    const cidr = server.ensureCluster("a", { serviceCidr: "10.0.0.0/33" });
    await expect(cidr).rejects.toMatchObject({ code: "APISERVER_CIDR_INVALID" });
    const version = server.ensureCluster("a", { version: "newest" });
    await expect(version).rejects.toMatchObject({ code: "APISERVER_VERSION_INVALID" });
  });
});
