/**
 * The check of webhooks that break a tenant's cluster, on our API server and on a real kube-apiserver: what both
 * refuse, in their own words, and what an exemption does there.
 */
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { readFileSync } from "node:fs";
import { createAuthority, issueCertificate, systemClock } from "@causeway/foundation";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { freePort } from "../support/free-ports.ts";
import { servers, startServer, type Server } from "./servers.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const signal = new AbortController().signal;
/** Of the runtime's own: no part of the package's interface. */
const source = resolve(import.meta.dirname, "../../packages/hosted-control-plane/src/webhooks/check.ts");
interface Check {
  readonly checkWebhooks: (
    options: { client: KubernetesClient; mayExempt: boolean; now: number },
    signal: AbortSignal,
  ) => Promise<{ found: readonly { name: string; what: string; because: string }[]; exempted: readonly string[] }>;
}
const validating = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

/** A webhook that answers every review so, or not at all. */
async function startWebhook(answer: (() => object) | undefined) {
  const authority = await createAuthority({ commonName: "webhook-ca", lifetime: 3600_000 });
  const subject = { commonName: "webhook", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
  const issued = await issueCertificate(authority, { ...subject, usages: ["server"], lifetime: 3600_000 });
  const listener = createHttpsServer({ cert: issued.certificate, key: issued.key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (answer === undefined) return;
      const { request: asked } = JSON.parse(Buffer.concat(chunks).toString()) as { request: { uid: string } };
      const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ ...review, response: { uid: asked.uid, ...answer() } }));
    });
  });
  await new Promise<void>((done) => listener.listen(0, "127.0.0.1", done));
  const { port } = listener.address() as AddressInfo;
  return {
    clientConfig: {
      url: `https://127.0.0.1:${port}/`,
      caBundle: Buffer.from(authority.certificate).toString("base64"),
    },
    async close() {
      listener.closeAllConnections();
      await new Promise((done) => listener.close(done));
    },
  };
}

for (const { name, missing } of servers())
  describe.skipIf(missing !== undefined)(`the check of webhooks on ${name}${missing ? ` (${missing})` : ""}`, () => {
    let server: Server;
    let client: KubernetesClient;
    let check: (mayExempt?: boolean) => ReturnType<Check["checkWebhooks"]>;
    const registered: string[] = [];
    const ends: (() => Promise<void>)[] = [];
    beforeAll(async () => {
      server = await startServer(name);
      client = createClient(loadKubeconfig({ text: readFileSync(server.kubeconfig, "utf8") }));
      const { checkWebhooks } = (await import(source)) as Check;
      check = (mayExempt = false) => checkWebhooks({ client, mayExempt, now: Date.now() }, signal);
      await until("the namespaces of the system", async () =>
        (await status(() => client.request("GET", "/api/v1/namespaces/kube-node-lease"))) === "ok" ? true : undefined,
      );
    });
    afterEach(async () => {
      for (const each of registered.splice(0)) await client.request("DELETE", `${validating}/${each}`);
      for (const end of ends.splice(0)) await end();
      await until("no webhook", async () => ((await status(lease)) === "ok" ? true : undefined));
    });
    afterAll(async () => {
      await client.close();
      await server.close();
    });

    /** In force when a server that reads its configurations from a watch has it. */
    async function register(of: string, more: object, inForce: RegExp): Promise<void> {
      const webhook = {
        name: `${of}.example.com`,
        rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"], scope: "*" }],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        timeoutSeconds: 1,
        ...more,
      };
      const [apiVersion, kind] = ["admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"];
      const object = { apiVersion, kind, metadata: { name: of }, webhooks: [webhook] };
      registered.push(of);
      await client.request("POST", validating, { body: object });
      await until(`${of} in force`, async () => (inForce.test(await status(lease)) ? true : undefined));
    }
    const lease = () => {
      const object = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "w" }, spec: {} };
      return client.request("POST", leases, { body: object, query: { dryRun: "All" } });
    };
    const configMap = () => {
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
      return client.request("POST", "/api/v1/namespaces/default/configmaps", {
        body: object,
        query: { dryRun: "All" },
      });
    };

    test("finds nothing where there is no webhook", async () => {
      expect(await check(true)).toEqual({ found: [], exempted: [] });
    });

    test("names one that cannot be called, and exempts the requests of the system from it, and no others", async () => {
      const clientConfig = { url: `https://127.0.0.1:${await freePort()}/`, caBundle: "" };
      await register("broken", { clientConfig }, /failed calling webhook "broken.example.com"/);
      const { found } = await check();
      expect(found.map((each) => each.name)).toEqual(["broken"]);
      expect(found[0]?.what).toBe("leases of nodes");
      const { exempted } = await check(true);
      expect(exempted).toEqual(["webhook broken.example.com of ValidatingWebhookConfiguration broken"]);
      await until("exempted", async () => ((await status(lease)) === "ok" ? true : undefined));
      expect(await status(configMap)).toMatch(/failed calling webhook "broken.example.com"/);
      expect(await check(true)).toEqual({ found: [], exempted: [] });
    });

    test("names one that does not answer, and exempts from it", async () => {
      const silent = await startWebhook(undefined);
      ends.push(() => silent.close());
      await register("silent", { clientConfig: silent.clientConfig }, /failed calling webhook "silent.example.com"/);
      const { exempted } = await check(true);
      expect(exempted).toEqual(["webhook silent.example.com of ValidatingWebhookConfiguration silent"]);
      await until("exempted", async () => ((await status(lease)) === "ok" ? true : undefined));
    });

    test.for([
      "not on Fridays",
      'failed calling webhook "policy.example.com": no answer',
      'Internal error occurred: failed calling webhook "works.example.com": no answer',
    ])("never exempts one that works and denies with: %s", async (message) => {
      const denying = await startWebhook(() => ({ allowed: false, status: { code: 500, message } }));
      const allowing = await startWebhook(() => ({ allowed: true }));
      ends.push(
        () => denying.close(),
        () => allowing.close(),
      );
      // Nothing shows that this one is in force; the next one is registered later.
      await register("works", { clientConfig: allowing.clientConfig }, /^ok$/);
      await register("policy", { clientConfig: denying.clientConfig }, /webhook "policy.example.com" denied/);
      const of = async () => JSON.stringify(((await client.request("GET", validating)) as { items: unknown }).items);
      const before = await of();
      const { found, exempted } = await check(true);
      expect(found.map((each) => each.name)).toEqual(["policy"]);
      expect(found[0]?.because).toContain(message);
      expect(exempted).toEqual([]);
      expect(await of()).toBe(before);
    });
  });

/** "ok", or why the request is refused. */
const status = (request: () => Promise<unknown>): Promise<string> =>
  request().then(
    () => "ok",
    (error: unknown) => String(error),
  );

async function until<T>(what: string, probe: () => Promise<T | undefined>): Promise<T> {
  for (let i = 0; i < 600; i++) {
    const found = await probe();
    if (found !== undefined) return found;
    await systemClock.sleep(100);
  }
  throw new Error(`not in time: ${what}`);
}
