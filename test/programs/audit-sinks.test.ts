/**
 * Where API servers as pods write their audit events: a webhook with a token, and files of the pod, on a real program.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createAuthority, issueCertificate } from "@causeway/foundation";
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

describe.skipIf(why !== undefined)(
  `audit events of control planes as pods${why === undefined ? "" : ` (${why})`}`,
  () => {
    let world: World;
    let listener: Server;
    const received: Received[] = [];
    beforeAll(async () => {
      const authority = await createAuthority({ commonName: "audit-ca", lifetime: 3600_000 });
      const subject = { commonName: "audit", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
      const issued = await issueCertificate(authority, { ...subject, usages: ["server"], lifetime: 3600_000 });
      listener = createServer({ cert: issued.certificate, key: issued.key }, (request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          const { items } = JSON.parse(Buffer.concat(chunks).toString()) as { items: readonly AuditEvent[] };
          const path = (request.url ?? "").split("?")[0] ?? "";
          received.push({ path, token: request.headers.authorization ?? "", events: items });
          response.end();
        });
      });
      await new Promise<void>((done) => listener.listen(0, "127.0.0.1", done));
      const { port } = listener.address() as AddressInfo;
      const webhook = {
        url: `https://127.0.0.1:${port}/events`,
        certificateAuthority: authority.certificate,
        token: "of-the-collector",
        namespace: "logging",
      };
      world = await startWorld("Pods", {}, { members: 1 }, { audit: { log: "File", webhook } });
      for (const name of ["one", "two"]) await create(world, name);
      for (const name of ["one", "two"]) await available(world, name);
    });
    afterAll(async () => {
      await world.close();
      listener.closeAllConnections();
      await new Promise((done) => listener.close(done));
    });

    test("are received by the webhook at the path of their control plane alone, within a minute, with its token", async () => {
      const began = Date.now();
      for (const name of ["one", "two"]) {
        const metadata = key(`only-of-${name}`);
        await (await world.tenant(name)).create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata });
      }
      const pathsOf = (name: string): string[] =>
        received
          .filter(({ events }) => events.some(({ objectRef }) => objectRef?.name === name))
          .map(({ path }) => path);
      for (const name of ["one", "two"])
        await until(`the event of ${name}`, async () => (pathsOf(`only-of-${name}`).length > 0 ? true : undefined));
      const seconds = (Date.now() - began) / 1_000;
      console.log(`events of two control planes after ${seconds.toFixed(1)} s`);
      expect(seconds).toBeLessThan(60);
      for (const name of ["one", "two"])
        expect(new Set(pathsOf(`only-of-${name}`))).toEqual(new Set([`/events/default/${name}`]));
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
