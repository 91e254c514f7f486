import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import type { MagnumCluster } from "@causeway/api";
import { createMetrics, silentLog } from "@causeway/foundation";
import { openStage, type Json } from "../testing/stage.ts";
import { notificationOf } from "./cadf.ts";
import { auditFile, auditUrl } from "./targets.ts";
import { createAuditTrail, type AuditTarget } from "./trail.ts";

vi.setConfig({ testTimeout: 120_000 });

const caller = { userId: "u", projectId: "p", domainId: "d" };
const cluster = {
  metadata: { name: "web-1", creationTimestamp: "2026-11-01T12:00:00Z" },
  spec: {
    uuid: "5d12f6fd-a196-4bf0-ae4c-1f639a523a52",
    name: "web",
    projectID: "p",
    template: {},
    labels: { kube_tag: "v1.34.0", grafana_admin_passwd: "hunter2" },
    nodeGroups: [],
  },
} as unknown as MagnumCluster;

it("an audit event has the fields of Magnum's notifications, and no secret of a label", () => {
  const found = notificationOf(
    { action: "create", outcome: "pending", cluster, caller },
    Date.UTC(2026, 10, 1),
    "host",
  );
  expect(found).toMatchObject({
    publisher_id: "container-infra.host",
    event_type: "magnum.cluster.create",
    priority: "INFO",
    timestamp: "2026-11-01 00:00:00.000000",
    payload: {
      typeURI: "http://schemas.dmtf.org/cloud/audit/1.0/event",
      eventType: "activity",
      eventTime: "2026-11-01T00:00:00.000000+0000",
      action: "create",
      outcome: "pending",
      initiator: { typeURI: "service/security/account/user", user_id: "u", project_id: "p", domain_id: "d" },
      target: {
        id: cluster.spec.uuid,
        name: "web",
        typeURI: "service/magnum/cluster",
        attachments: [{ name: "cluster_data", content: { stack_id: "web-1", labels: { kube_tag: "v1.34.0" } } }],
      },
      observer: { typeURI: "service/magnum/cluster" },
    },
  });
  expect(JSON.stringify(found)).not.toContain("hunter2");
  const refused = notificationOf({ action: "delete", outcome: "failure", caller, refusedWith: 403 }, 0, "host");
  expect(refused).toMatchObject({ priority: "ERROR", payload: { reason: { reasonType: "HTTP", reasonCode: "403" } } });
});

it("an event is small, however long the labels of a cluster are and however often a request is refused", () => {
  const labels = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`label-${i}`, "x".repeat(16_000)]));
  const large = { ...cluster, spec: { ...cluster.spec, labels } };
  const text = (more: object) =>
    JSON.stringify(notificationOf({ action: "update", outcome: "pending", cluster: large, ...more }, 0, "h"));
  expect(text({}).length).toBeLessThan(20_000);
  expect(text({ outcome: "failure", refusedWith: 409 }).length).toBeLessThan(1_500);
});

const trailOf = (target: AuditTarget, most?: number) => {
  const metrics = createMetrics();
  const clock = { now: () => Date.now(), sleep: () => Promise.resolve() };
  const trail = createAuditTrail({
    target,
    host: "h",
    metrics,
    clock,
    log: silentLog,
    ...(most === undefined ? {} : { most }),
  });
  return { trail, metrics };
};

it("a target that fails gets each event later, in their order, and none is recorded twice", async () => {
  const written: string[] = [];
  let failures = 3;
  const { trail } = trailOf({
    write(lines) {
      if ((failures -= 1) >= 0) return Promise.reject(new Error("away"));
      written.push(...lines.map((line) => String((JSON.parse(line) as Json)["event_type"])));
      return Promise.resolve();
    },
  });
  const stopping = new AbortController();
  const running = trail.run(stopping.signal);
  for (const action of ["create", "update", "delete"] as const) trail.record({ action, outcome: "pending" });
  await expect.poll(() => written).toEqual(["create", "update", "delete"].map((one) => `magnum.cluster.${one}`));
  stopping.abort();
  await running;
});

it("events beyond what may wait are dropped and counted, and record never waits", async () => {
  const never = () => new Promise<void>(() => {});
  const { trail, metrics } = trailOf({ write: never }, 20_000);
  void trail.run(new AbortController().signal);
  for (let i = 0; i < 100; i += 1) trail.record({ action: "update", outcome: "pending", cluster });
  const [, dropped = "0"] = /audit_events_total\{outcome="dropped"\} (\d+)/.exec(await metrics.render()) ?? [];
  expect(Number(dropped)).toBeGreaterThan(50);
  expect(Number(dropped)).toBeLessThan(100);
});

it("a file has one event a line, is the owner's only, and is renamed when it is full", async () => {
  const dir = await mkdtemp(join(tmpdir(), "audit-"));
  try {
    const path = join(dir, "audit.log");
    const target = auditFile(path, 10);
    await target.write(['{"a":1}', '{"b":2}'], AbortSignal.timeout(10_000));
    await target.write(['{"c":3}'], AbortSignal.timeout(10_000));
    expect(await readFile(`${path}.1`, "utf8")).toBe('{"a":1}\n{"b":2}\n');
    expect(await readFile(path, "utf8")).toBe('{"c":3}\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  } finally {
    await rm(dir, { recursive: true });
  }
});

it("a server gets one event a request, and a refusal of it is an error", async () => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      bodies.push(text);
      response.writeHead(text.includes("refuse") ? 500 : 204).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const target = auditUrl(`http://127.0.0.1:${port}/events`);
  try {
    await target.write(["one", "two"], AbortSignal.timeout(10_000));
    expect(bodies).toEqual(["one", "two"]);
    await expect(target.write(["refuse"], AbortSignal.timeout(10_000))).rejects.toThrow(/responds with 500/);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

it("requests that change a cluster are audited with their caller, and so is the end of a deletion", async () => {
  const events: Json[] = [];
  const audit: AuditTarget = {
    write(lines) {
      events.push(...lines.map((line) => JSON.parse(line) as Json));
      return Promise.resolve();
    },
  };
  const stage = await openStage({ audit });
  try {
    const call = (who: string, method: string, path: string, body?: unknown) => stage.call(who, method, path, { body });
    const template = { name: "t", coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small" };
    const { body: made } = await call("demo", "POST", "/v1/clustertemplates", template);
    const { body } = await call("demo", "POST", "/v1/clusters", { cluster_template_id: made["uuid"] });
    const path = `/v1/clusters/${String(body["uuid"])}`;
    expect((await call("reader", "DELETE", path)).status).toBe(403);
    expect((await call("demo", "GET", path)).status).toBe(200);
    expect((await call("demo", "DELETE", path)).status).toBe(204);
    const seen = () =>
      events.map((event) => {
        const { outcome, target, initiator } = event["payload"] as Readonly<Record<string, Json>>;
        const isOurs = target?.["id"] === body["uuid"];
        const by = initiator?.["user_id"] === undefined ? "controller" : "user";
        return [event["event_type"], outcome, isOurs, by].join(" ");
      });
    // On a slow machine the controller reports the end of the creation before the deletion is requested.
    const isEndOfCreation = (each: string): boolean => /^magnum\.cluster\.create \w+ true controller$/.test(each);
    await expect
      .poll(() => seen().filter((each) => !isEndOfCreation(each)), { timeout: 60_000 })
      .toEqual([
        "magnum.cluster.create pending true user",
        "magnum.cluster.delete failure true user",
        "magnum.cluster.delete pending true user",
        "magnum.cluster.delete success true controller",
      ]);
    expect(seen().filter(isEndOfCreation).length).toBeLessThanOrEqual(1);
  } finally {
    await stage.close();
  }
});
