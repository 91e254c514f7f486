import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigMap, createClient, loadKubeconfig } from "@causeway/kubernetes";
import { afterAll, expect, test, vi } from "vitest";
import type { AuditOptions } from "../contract/audit.ts";
import { startApiServer, type ApiServer } from "../index.ts";
import { startListener, type TestListener } from "../testing/https.ts";

const dir = mkdtempSync(join(tmpdir(), "record-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const auditTo = ({ url, ca }: TestListener, token: string): AuditOptions => ({
  policy: { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata", verbs: ["create"] }] },
  server: { url: `${url}/events`, certificateAuthority: ca, token, networks: ["127.0.0.0/8"] },
});

/** Paths and tokens of the batches in which the creation of this object is. */
const batchesOf = ({ asked }: TestListener, name: string): string[] =>
  asked
    .filter(({ body }) => body.includes(`"name":"${name}"`))
    .map(({ path, headers }) => `${path} ${headers.authorization ?? ""}`);

async function create(server: ApiServer, name: string): Promise<void> {
  const kubeconfig = await server.cluster("tenant")?.kubeconfig();
  const client = createClient(loadKubeconfig({ text: kubeconfig ?? "" }));
  await client.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name } });
  await client.close();
}

test("a cluster sends its audit events elsewhere while it is served, and after a restart to where it did before", async () => {
  const [first, second] = [await startListener(), await startListener()];
  let server = await startApiServer({ dir });
  const listen = { host: "127.0.0.1", port: 0, names: [] };
  const ensure = (audit: AuditOptions | "none") => server.ensureCluster("tenant", { listen, audit });
  await ensure("none");
  await create(server, "unrecorded");
  const { port } = await ensure(auditTo(first, "one"));
  await create(server, "to-first");
  await ensure(auditTo(second, "two"));
  await create(server, "to-second");
  // What waited for the first server is sent when another one has its place.
  await vi.waitFor(() => expect(batchesOf(first, "to-first")).toEqual(["/events Bearer one"]), 20_000);
  await server.close();
  expect(batchesOf(second, "to-second")).toEqual(["/events Bearer two"]);

  server = await startApiServer({ dir });
  expect(server.cluster("tenant")?.port).toBe(port);
  await create(server, "after-restart");
  await ensure("none");
  await create(server, "after-end");
  await server.close();
  expect(batchesOf(second, "after-restart")).toEqual(["/events Bearer two"]);
  const all = [...first.asked, ...second.asked].map(({ body }) => body).join("");
  expect(all).not.toMatch(/unrecorded|after-end/);
  expect(batchesOf(first, "to-second")).toEqual([]);
  for (const listener of [first, second]) listener.close();
});
