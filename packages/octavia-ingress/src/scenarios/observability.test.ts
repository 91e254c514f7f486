import { createAuthority, createLog, createMetrics, issueCertificate } from "@causeway/foundation";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { IngressWorld, to } from "../testing/world.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
let w: IngressWorld;

beforeAll(async () => {
  w = await IngressWorld.start();
  await w.service("web", 30_001);
});
afterAll(() => w.close());

test("the Ingress controller reports its requests in metrics, and no secret in its log", async () => {
  const lifetime = 3_600_000;
  const authority = await createAuthority({ commonName: "ca", lifetime });
  const pair = await issueCertificate(authority, { commonName: "a.example", usages: ["server"], lifetime });
  await w.secret("tls", pair);
  const lines: string[] = [];
  const metrics = createMetrics();
  const log = createLog({ level: "debug", destination: { write: (line) => lines.push(line) } });
  w.run({}, { log, metrics });
  const rules = [{ host: "a.example", http: { paths: [to("web")] } }];
  await w.ingress(
    "tls",
    { tls: [{ secretName: "tls" }], rules },
    { annotations: { "octavia.ingress.kubernetes.io/internal": "false" } },
  );
  await w.address("tls");
  const text = await metrics.render();
  for (const request of ["loadbalancer_create", "secret_create", "floating_ip_create"]) {
    expect(text).toContain(`openstack_api_requests_total{request="${request}"} 1`);
    expect(text).toContain(`openstack_api_request_duration_seconds_count{request="${request}"} 1`);
  }
  const said = lines.join("");
  expect(said).not.toBe("");
  const secret = pair.key.split("\n")[1] ?? "";
  expect(secret).toHaveLength(64);
  for (const word of [secret, Buffer.from(pair.key).toString("base64"), "PRIVATE KEY", "gAAAAA"])
    expect(said).not.toContain(word);
});
