import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { ConfigMap, createClient, loadKubeconfig } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { createEmbeddedRuntime } from "./embedded.ts";
import type { ControlPlaneSpec } from "./runtime.ts";
import { commonSpec } from "./testing/common-spec.ts";

const DAY = 86_400_000;
const { signal } = new AbortController();

async function specOf(audit: ControlPlaneSpec["audit"]): Promise<ControlPlaneSpec> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    ...commonSpec,
    version: "v1.34.4",
    authority: await createAuthority({ commonName: "kubernetes", lifetime: DAY }),
    serviceAccountKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    endpoint: { host: "127.0.0.1", port: 0 },
    replicas: 1,
    ...(audit === undefined ? {} : { audit }),
  };
}

async function write(server: ApiServer, name: string): Promise<void> {
  const client = createClient(loadKubeconfig({ text: (await server.cluster("default.web")?.kubeconfig()) ?? "" }));
  await client.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name } });
  await client.close();
}

test("an audit sink of an embedded control plane gets events, and none once a new process does not permit it", async () => {
  const authority = await createAuthority({ commonName: "sink-ca", lifetime: DAY });
  const subject = { commonName: "sink", ipAddresses: ["127.0.0.1"], usages: ["server"] } as const;
  const { certificate, key } = await issueCertificate(authority, { ...subject, lifetime: DAY });
  let received = "";
  const listener = createServer({ cert: certificate, key }, (request, response) => {
    request.on("data", (chunk: Buffer) => (received += chunk.toString())).on("end", () => response.end());
  });
  await new Promise<void>((done) => listener.listen(0, "127.0.0.1", done));
  const url = `https://127.0.0.1:${(listener.address() as AddressInfo).port}/events`;
  const audit = { url, certificateAuthority: authority.certificate, tokenSecret: "sink", token: "t" };
  const spec = await specOf(audit);
  const apiServer = await startApiServer();
  const runtime = createEmbeddedRuntime({ apiServer, auditNetworks: ["127.0.0.0/8"] });
  expect(await runtime.ensure(spec, signal)).toMatchObject({ ready: true, audit });
  await write(apiServer, "sent");
  // A request that is refused in one process leaves the sink of before in place.
  const elsewhere = { ...spec, audit: { ...audit, url: "https://192.0.2.1" } };
  await expect(runtime.ensure(elsewhere, signal)).rejects.toMatchObject({ code: "AUDIT_SINK_NOT_PERMITTED" });
  await write(apiServer, "sent-later");
  const next = createEmbeddedRuntime({ apiServer, auditNetworks: ["192.0.2.0/24"] });
  await expect(next.ensure(spec, signal)).rejects.toMatchObject({ code: "AUDIT_SINK_NOT_PERMITTED" });
  await write(apiServer, "kept-back");
  await apiServer.close();
  listener.closeAllConnections();
  listener.close();
  expect(received).toContain('"name":"sent"');
  expect(received).toContain('"name":"sent-later"');
  expect(received).not.toContain("kept-back");
});
