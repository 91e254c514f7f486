/**
 * Where API servers write their audit events, on real programs and in the embedded runtime: the operator's webhook with
 * a token, files of the pod, and a webhook of one tenant.
 */
import { HostedControlPlane } from "@causeway/api";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createAuthority, issueCertificate, type KeyPair } from "@causeway/foundation";
import { ConfigMap, Secret } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { available, create, key, missingFor, startWorld, until, type World } from "./runtime-world.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const why = missingFor("Pods");

interface AuditEvent {
  readonly level: string;
  readonly verb: string;
  readonly objectRef?: { readonly resource?: string; readonly name?: string };
  readonly requestObject?: unknown;
}
interface Received {
  readonly path: string;
  readonly token: string;
  readonly events: readonly AuditEvent[];
}

interface Collector {
  readonly url: string;
  readonly certificateAuthority: string;
  readonly received: readonly Received[];
  /** What it responds with from now on. */
  status: number;
  /** Where it redirects to. */
  location?: string;
  close(): Promise<void>;
}

/** An HTTPS server that keeps what it receives. */
async function startCollector(given?: KeyPair): Promise<Collector> {
  const authority = given ?? (await createAuthority({ commonName: "audit-ca", lifetime: 3600_000 }));
  const subject = { commonName: "audit", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
  const issued = await issueCertificate(authority, { ...subject, usages: ["server"], lifetime: 3600_000 });
  const received: Received[] = [];
  const listener = createServer({ cert: issued.certificate, key: issued.key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.statusCode = collector.status;
      if (collector.location !== undefined) response.setHeader("location", collector.location);
      response.end();
      if (collector.status !== 200) return;
      const { items } = JSON.parse(Buffer.concat(chunks).toString()) as { items: readonly AuditEvent[] };
      const path = (request.url ?? "").split("?")[0] ?? "";
      received.push({ path, token: request.headers.authorization ?? "", events: items });
    });
  });
  await new Promise<void>((done) => listener.listen(0, "127.0.0.1", done));
  const collector: Collector = {
    url: `https://127.0.0.1:${(listener.address() as AddressInfo).port}/events`,
    certificateAuthority: authority.certificate,
    received,
    status: 200,
    async close() {
      listener.closeAllConnections();
      await new Promise((done) => listener.close(done));
    },
  };
  return collector;
}

const write = async (world: World, tenant: string, name: string): Promise<void> => {
  await (await world.tenant(tenant)).create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata: key(name) });
};
const pathsOf = ({ received }: Collector, name: string): string[] =>
  received.filter(({ events }) => events.some(({ objectRef }) => objectRef?.name === name)).map(({ path }) => path);

describe.skipIf(why !== undefined)(
  `audit events of control planes as pods${why === undefined ? "" : ` (${why})`}`,
  () => {
    let world: World;
    let collector: Collector;
    let received: readonly Received[] = [];
    beforeAll(async () => {
      collector = await startCollector();
      ({ received } = collector);
      const { url, certificateAuthority } = collector;
      const webhook = { url, certificateAuthority, token: "of-the-collector", namespace: "logging" };
      world = await startWorld("Pods", {}, { members: 1 }, { audit: { log: "File", webhook } });
      for (const name of ["one", "two"]) await create(world, name);
      for (const name of ["one", "two"]) await available(world, name);
    });
    afterAll(async () => {
      await world?.close();
      await collector?.close();
    });

    test("are received by the webhook at the path of their control plane alone, within a minute, with its token", async () => {
      const began = Date.now();
      for (const name of ["one", "two"]) await write(world, name, `only-of-${name}`);
      for (const name of ["one", "two"])
        await until(`the event of ${name}`, async () =>
          pathsOf(collector, `only-of-${name}`).length > 0 ? true : undefined,
        );
      const seconds = (Date.now() - began) / 1_000;
      console.log(`events of two control planes after ${seconds.toFixed(1)} s`);
      expect(seconds).toBeLessThan(60);
      for (const name of ["one", "two"])
        expect(new Set(pathsOf(collector, `only-of-${name}`))).toEqual(new Set([`/events/default/${name}`]));
      expect(new Set(received.map(({ token }) => token))).toEqual(new Set(["Bearer of-the-collector"]));
    });

    test("have no content of objects", async () => {
      const tenant = await world.tenant("one");
      await tenant.create(ConfigMap, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: key("seen"),
        data: { a: "content" },
      });
      const data = { word: Buffer.from("hidden").toString("base64") };
      await tenant.create(Secret, { apiVersion: "v1", kind: "Secret", metadata: key("word"), data } as Secret);
      for (const name of ["seen", "word"]) {
        const event = await until(`event of ${name}`, async () =>
          received.flatMap(({ events }) => events).find(({ objectRef }) => objectRef?.name === name),
        );
        expect(event).toMatchObject({ level: "Metadata", verb: "create" });
        expect(event.requestObject).toBeUndefined();
      }
      expect(JSON.stringify(received)).not.toMatch(/content|aGlkZGVu/);
    });

    test("are in files of the pod, too", async () => {
      const files = readdirSync(join(world.dir, "node"), { recursive: true, encoding: "utf8" });
      const logs = files.filter((file) => file.endsWith("kube-apiserver/audit/audit.log"));
      expect(logs.length).toBeGreaterThan(0);
      const text = logs.map((file) => readFileSync(join(world.dir, "node", file), "utf8")).join("");
      expect(text).toContain('"name":"seen"');
      expect(text).not.toMatch(/"data":|aGlkZGVu/);
    });
  },
);

for (const name of ["Embedded", "Process", "Pods"] as const) {
  const missing = missingFor(name);
  describe.skipIf(missing !== undefined)(
    `a tenant's own audit sink, with runtime ${name}${missing === undefined ? "" : ` (${missing})`}`,
    () => {
      let world: World;
      let sink: Collector;
      let other: Collector;
      beforeAll(async () => {
        // Of one authority: nothing but the redirect keeps API servers from the other one.
        const authority = await createAuthority({ commonName: "audit-ca", lifetime: 3600_000 });
        [sink, other] = [await startCollector(authority), await startCollector(authority)];
        world = await startWorld(name, {}, { members: 1 });
        const labels = { "cluster.x-k8s.io/cluster-name": "one" };
        const data = { token: Buffer.from("of-the-tenant\n").toString("base64") };
        await world.client.create(Secret, {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { ...key("sink"), labels },
          data,
        } as Secret);
        const { url, certificateAuthority } = sink;
        await create(world, "one", { audit: { webhook: { url, certificateAuthority, tokenSecret: "sink" } } });
        await create(world, "two");
        for (const each of ["one", "two"]) await available(world, each);
      });
      afterAll(async () => {
        await world?.close();
        for (const each of [sink, other]) await each?.close();
      });

      test("receives the events of its control plane within a minute, with its token, and none of another one", async () => {
        await write(world, "two", "only-of-two");
        const began = Date.now();
        await write(world, "one", "only-of-one");
        await until("the event", async () => (pathsOf(sink, "only-of-one").length > 0 ? true : undefined));
        const seconds = (Date.now() - began) / 1_000;
        console.log(`${name}: an event at the tenant's own sink after ${seconds.toFixed(1)} s`);
        expect(seconds).toBeLessThan(60);
        expect(new Set(sink.received.map(({ path }) => path))).toEqual(new Set(["/events"]));
        expect(new Set(sink.received.map(({ token }) => token))).toEqual(new Set(["Bearer of-the-tenant"]));
        // Batches of the same seconds have come, too.
        await write(world, "one", "later-of-one");
        await until("the next event", async () => (pathsOf(sink, "later-of-one").length > 0 ? true : undefined));
        expect(pathsOf(sink, "only-of-two")).toEqual([]);
      });

      test("that fails or redirects costs no request, leads nowhere else, and is named by a condition", async () => {
        // NetworkPolicies of a service cluster keep API servers as pods from other places; here is none.
        sink.status = name === "Pods" ? 403 : 307;
        if (name !== "Pods") sink.location = other.url;
        const began = Date.now();
        let writes = 0;
        const condition = await until(
          "condition",
          async () => {
            await write(world, "one", `lost-${++writes}`);
            const { status } = await world.client.get(HostedControlPlane, key("one"));
            const found = status?.conditions?.find(({ type }) => type === "AuditDelivered");
            return found?.status === "False" ? found : undefined;
          },
          4_000,
        );
        const seconds = ((Date.now() - began) / 1_000).toFixed(1);
        console.log(`${name}: named after ${seconds} s and ${writes} writes: ${condition.message}`);
        expect(condition).toMatchObject({ reason: "AuditSinkFailing" });
        expect(other.received).toEqual([]);
        expect(condition.message).toContain(`${sink.url} did not accept`);
        const { status } = await world.client.get(HostedControlPlane, key("two"));
        expect(status?.conditions?.filter(({ type }) => type === "AuditDelivered")).toEqual([]);
        for (const each of ["one", "two"]) await available(world, each);
      });

      test("outside of the operator's networks is refused, and the control plane serves on", async () => {
        await world.client.patch(HostedControlPlane, key("two"), {
          type: "merge",
          body: { spec: { audit: { webhook: { url: "https://192.0.2.1/events" } } } },
        });
        await until("refused", async () => {
          const { status } = await world.client.get(HostedControlPlane, key("two"));
          return status?.conditions?.some(({ message = "" }) => message.includes("AUDIT_SINK_NOT_PERMITTED")) === true
            ? true
            : undefined;
        });
        await write(world, "two", "after-refusal");
      });
    },
  );
}
