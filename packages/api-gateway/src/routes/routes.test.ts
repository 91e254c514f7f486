import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApiServer } from "@causeway/apiserver";
import { createLog, silentLog, systemClock } from "@causeway/foundation";
import { createClient, createInformers, loadKubeconfig, Namespace, Service } from "@causeway/kubernetes";
import { afterEach, describe, expect, test } from "vitest";
import { until } from "../testing/world.ts";
import { fileRoutes } from "./file.ts";
import { joinRoutes } from "./routes.ts";
import { serviceRoutes } from "./services.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const labels = {
  "app.kubernetes.io/managed-by": "causeway-hosted-control-plane",
  "app.kubernetes.io/component": "kube-apiserver",
};
const serviceOf = (namespace: string, serverName: string, name = "kube-apiserver"): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    namespace,
    name,
    labels,
    annotations: { "controlplane.causeway.dev/server-name": serverName },
  },
  spec: { type: "ClusterIP", ports: [{ name: "api", port: 6443, protocol: "TCP" }] },
});

describe("routes of Services", () => {
  test("follow them, and of two with one name the older one has it", async () => {
    const server = await startApiServer({});
    const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
    closers.push(
      () => server.close(),
      () => client.close(),
    );
    for (const name of ["hcp-a", "hcp-b"])
      await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    const a = await client.create(Service, serviceOf("hcp-a", "A.api.test"));
    const unlabelled = serviceOf("hcp-b", "foreign.api.test", "other");
    delete unlabelled.metadata.labels;
    await client.create(Service, unlabelled);

    const lines: string[] = [];
    const log = createLog({ level: "warn", destination: { write: (line) => void lines.push(line) } });
    const informers = createInformers(client, { clock: systemClock, log: silentLog });
    const routes = serviceRoutes(informers, log);
    closers.push(() => routes.close());
    expect(routes.ready).toBe(false);
    const stopping = new AbortController();
    const running = informers.run(stopping.signal).catch(() => {});
    closers.push(() => {
      stopping.abort();
      return running;
    });
    await until("they are read", () => routes.ready);
    const found = { tenant: "hcp-a", host: a.spec.clusterIP, port: 6443 };
    expect(routes.find("a.api.test")).toEqual(found);
    expect(routes.find("foreign.api.test")).toBeUndefined();
    const hibernate = (value: string | null) =>
      client.patch(
        Service,
        { namespace: "hcp-a", name: "kube-apiserver" },
        { type: "merge", body: { metadata: { annotations: { "controlplane.causeway.dev/hibernated": value } } } },
      );
    await hibernate("true");
    await until("it hibernates", () => routes.find("a.api.test")?.isHibernated === true);
    await hibernate(null);
    await until("it wakes", () => routes.find("a.api.test")?.isHibernated === undefined);

    await systemClock.sleep(1_100);
    await client.create(Service, serviceOf("hcp-b", "a.api.test"));
    await until("both are known", () => lines.length > 0);
    expect(lines[0]).toContain("several Services have one server name");
    expect(routes.find("a.api.test")).toEqual(found);
    await client.delete(Service, { namespace: "hcp-a", name: "kube-apiserver" });
    await until("the other one has it", () => routes.find("a.api.test")?.tenant === "hcp-b");
    const body = { metadata: { annotations: { "controlplane.causeway.dev/server-name": "b.api.test" } } };
    await client.patch(Service, { namespace: "hcp-b", name: "kube-apiserver" }, { type: "merge", body });
    await until("the name changed", () => routes.find("b.api.test") !== undefined);
    expect(routes.find("a.api.test")).toBeUndefined();
  });
});

describe("routes of a file", () => {
  const write = (text: string): string => {
    const dir = mkdtempSync(join(tmpdir(), "routes-"));
    closers.push(() => rmSync(dir, { recursive: true, force: true }));
    const path = join(dir, "routes.yaml");
    writeFileSync(path, text);
    return path;
  };
  const row = "{ serverName: Web.test, tenant: web, host: 10.0.0.5, port: 6443 }";

  test("are read, and read again; a file that cannot be used changes nothing", () => {
    const path = write(`routes: [${row}]`);
    const routes = fileRoutes(path);
    const web = { tenant: "web", host: "10.0.0.5", port: 6443 };
    expect(routes.find("web.test")).toEqual(web);
    writeFileSync(path, "routes: [");
    expect(() => routes.reread()).toThrowError(expect.objectContaining({ code: "GATEWAY_ROUTES_INVALID" }) as Error);
    expect(routes.find("web.test")).toEqual(web);
    writeFileSync(path, "routes: []");
    routes.reread();
    expect(routes.find("web.test")).toBeUndefined();
  });

  test.each<[string, string, RegExp]>([
    ["no list", "routes: {}", /no list/],
    ["a row without a port", "routes: [{ serverName: a.test, tenant: a, host: h }]", /routes\[0\]/],
    ["a name that is none", "routes: [{ serverName: 'a b', tenant: a, host: h, port: 1 }]", /routes\[0\]/],
    ["a name twice", `routes: [${row}, ${row}]`, /twice/],
  ])("with %s are refused", (_, text, message) => {
    expect(() => fileRoutes(write(text))).toThrow(message);
  });

  test("go before those that are joined behind them", () => {
    const one = fileRoutes(write(`routes: [${row}]`));
    const two = fileRoutes(
      write(
        "routes: [{ serverName: web.test, tenant: b, host: h, port: 1 }, { serverName: b.test, tenant: b, host: h, port: 1 }]",
      ),
    );
    const joined = joinRoutes([one, two]);
    expect(joined.find("web.test")?.tenant).toBe("web");
    expect(joined.find("b.test")?.tenant).toBe("b");
    expect(joined.ready).toBe(true);
  });
});
