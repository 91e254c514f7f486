import { createServer as createHttpsServer } from "node:https";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { createAuthority, issueCertificate, silentLog, VirtualClock, type Clock } from "@causeway/foundation";
import {
  createClient,
  loadKubeconfig,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { checkWebhooks } from "./check.ts";
import { createWebhookWatchdog } from "./watchdog.ts";
import type { Finding } from "./findings.ts";

vi.setConfig({ testTimeout: 60_000 });

const signal = new AbortController().signal;
const group = "admissionregistration.k8s.io";
const validating = typeOf(group, "ValidatingWebhookConfiguration");
const mutating = typeOf(group, "MutatingWebhookConfiguration");
const apiServices = typeOf("apiregistration.k8s.io", "APIService");

function typeOf(of: string, kind: string): ResourceType<KubeObject> {
  return { group: of, version: "v1", kind, plural: `${kind.toLowerCase()}s`, namespaced: false };
}

let [server, client, port] = [{} as ApiServer, {} as KubernetesClient, 0];
beforeEach(async () => {
  server = await startApiServer({});
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  port = await closedPort();
});
afterEach(async () => {
  await client.close();
  await server.close();
});

/** Nothing serves there. */
async function closedPort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((done) => listener.listen(0, "127.0.0.1", done));
  const { port: found } = listener.address() as AddressInfo;
  await new Promise((done) => listener.close(done));
  return found;
}

async function register(type: ResourceType<KubeObject>, name: string, more: object = {}): Promise<void> {
  const webhook = {
    name: `${name}.example.com`,
    clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: "" },
    rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"], scope: "*" }],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    timeoutSeconds: 2,
    ...more,
  };
  const object = { apiVersion: `${group}/v1`, kind: type.kind, metadata: { name }, webhooks: [webhook] };
  await client.create(type, object as KubeObject);
}

/** A webhook that answers every review so. */
async function startWebhook(answer: () => object) {
  let calls = 0;
  const authority = await createAuthority({ commonName: "webhook-ca", lifetime: 3600_000 });
  const subject = { commonName: "webhook", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
  const issued = await issueCertificate(authority, { ...subject, usages: ["server"], lifetime: 3600_000 });
  const listener = createHttpsServer({ cert: issued.certificate, key: issued.key }, (request, response) => {
    calls += 1;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { request: asked } = JSON.parse(Buffer.concat(chunks).toString()) as { request: { uid: string } };
      const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ ...review, response: { uid: asked.uid, ...answer() } }));
    });
  });
  await new Promise<void>((done) => listener.listen(0, "127.0.0.1", done));
  const { port: at } = listener.address() as AddressInfo;
  const caBundle = Buffer.from(authority.certificate).toString("base64");
  return {
    clientConfig: { url: `https://127.0.0.1:${at}/`, caBundle },
    calls: () => calls,
    async close() {
      listener.closeAllConnections();
      await new Promise((done) => listener.close(done));
    },
  };
}

const check = (mayExempt = false, now = Date.now()) => checkWebhooks({ client, mayExempt, now }, signal);
const named = (found: readonly Finding[]) => found.map(({ kind, name, webhook }) => `${kind} ${name} ${webhook ?? ""}`);

describe("a check of webhooks", () => {
  test("names a webhook for everything that points to nothing", async () => {
    await register(validating, "broken");
    const { found } = await check();
    expect(named(found)).toEqual(["ValidatingWebhookConfiguration broken broken.example.com"]);
    expect(found[0]?.what).toBe("leases of nodes");
    expect(found[0]?.because).toMatch(/failed calling webhook "broken.example.com"/);
  });

  test("reads with a client that is connected already, and connects only to try requests", async () => {
    const own = createClient({ server: `https://127.0.0.1:${port}` });
    const using = { client: own, reads: client, mayExempt: false, now: Date.now() };
    expect((await checkWebhooks(using, signal)).found).toEqual([]);
    await register(validating, "broken");
    await expect(checkWebhooks(using, signal)).rejects.toMatchObject({ code: "KUBERNETES_UNREACHABLE" });
    await own.close();
  });

  test.for<[title: string, more: object]>([
    ["ignores failures", { failurePolicy: "Ignore" }],
    [
      "exempts the system's namespaces and no nodes",
      {
        rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"], scope: "Namespaced" }],
        namespaceSelector: {
          matchExpressions: [
            { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", "kube-node-lease"] },
          ],
        },
      },
    ],
    ["spares them by a condition", { matchConditions: [{ name: "none", expression: "false" }] }],
  ])("finds nothing in one that %s", async ([, more]) => {
    await register(validating, "harmless", more);
    expect((await check()).found).toEqual([]);
  });

  test("finds each of several, and only those that fail", async () => {
    await register(mutating, "pods", {
      rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"], scope: "*" }],
    });
    await register(validating, "deletions", {
      rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["*"], operations: ["DELETE"], scope: "*" }],
    });
    await register(validating, "deployments", {
      rules: [{ apiGroups: ["apps"], apiVersions: ["v1"], resources: ["*"], operations: ["*"], scope: "*" }],
    });
    const { found } = await check();
    expect(found.map(({ name, what }) => `${name}: ${what}`)).toEqual([
      "pods: pods of kube-system",
      "deletions: deletions, which that of a namespace consists of",
    ]);
  });

  test("exempts the system's requests where it may, and nothing else", async () => {
    await register(validating, "broken");
    const { found, exempted } = await check(true);
    expect(found).toEqual([]);
    expect(exempted).toEqual(["webhook broken.example.com of ValidatingWebhookConfiguration broken"]);
    const renew = () =>
      client.request("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", {
        body: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "worker" }, spec: {} },
      });
    await expect(renew()).resolves.toBeDefined();
    const other = client.request("POST", "/api/v1/namespaces/default/configmaps", {
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
    });
    await expect(other).rejects.toThrow(/failed calling webhook/);
    expect(await check(true)).toEqual({ found: [], exempted: [] });
  });

  test.for<[title: string, message: string]>([
    ["plainly", "not on Fridays"],
    ["in the words of its own failure", 'failed calling webhook "policy.example.com": no answer'],
    ["in the words of another one's failure", 'Internal error: failed calling webhook "works.example.com": no answer'],
  ])("never exempts one that works and denies %s", async ([, message]) => {
    const answering = await startWebhook(() => ({ allowed: false, status: { code: 500, message } }));
    const allowing = await startWebhook(() => ({ allowed: true }));
    try {
      const rules = [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"], scope: "*" }];
      await register(validating, "works", { clientConfig: allowing.clientConfig, rules });
      await register(validating, "policy", { clientConfig: answering.clientConfig, rules });
      const of = async () => (await client.list(validating)).items;
      const before = await of();
      const { found, exempted } = await check(true);
      expect(named(found)).toEqual(["ValidatingWebhookConfiguration policy policy.example.com"]);
      expect(found[0]?.because).toContain(message);
      expect(exempted).toEqual([]);
      expect(await of()).toEqual(before);
      expect(answering.calls()).toBeGreaterThan(0);
    } finally {
      await Promise.all([answering.close(), allowing.close()]);
    }
  });

  test("counts what was found when a webhook takes all the time that there is", async () => {
    await register(validating, "a-broken");
    const open = new Set<Socket>();
    const silent = createServer((socket) => void open.add(socket.on("error", () => {})));
    await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
    const { port: at } = silent.address() as AddressInfo;
    const rules = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["*"], operations: ["*"], scope: "*" }];
    const clientConfig = { url: `https://127.0.0.1:${at}/`, caBundle: "" };
    await register(mutating, "silent", { clientConfig, rules, timeoutSeconds: 30 });
    const tries = new AbortController();
    const checking = checkWebhooks({ client, mayExempt: false, now: Date.now(), tries: tries.signal }, signal);
    await vi.waitFor(() => expect(open.size).toBeGreaterThan(0), { timeout: 20_000 });
    tries.abort(new Error("over"));
    const { found } = await checking;
    expect(named(found)).toEqual(["ValidatingWebhookConfiguration a-broken a-broken.example.com"]);
    for (const socket of open) socket.destroy();
    await new Promise((done) => silent.close(done));
  });

  test("names an APIService that has not been available for a minute", async () => {
    const spec = {
      group: "metrics.example.com",
      version: "v1",
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { namespace: "kube-system", name: "absent" },
    };
    const object = {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: "v1.metrics.example.com" },
      spec,
    };
    await client.create(apiServices, object as KubeObject);
    await vi.waitFor(
      async () => {
        const { found } = await check(false, Date.now() + 61_000);
        expect(named(found)).toEqual(["APIService v1.metrics.example.com "]);
      },
      { timeout: 30_000, interval: 100 },
    );
    expect((await check()).found).toEqual([]);
  });
});

describe("the watchdog", () => {
  test("reports what breaks a control plane, in the words of the first time, and that it ended", async () => {
    await register(validating, "broken");
    const virtual = new VirtualClock(Date.now());
    let checks = 0;
    /** A check sets limits of its own, far longer than the pauses between checks, and ends them with itself. */
    const clock: Clock = {
      now: () => virtual.now(),
      sleep(milliseconds, ending) {
        if (milliseconds > 30_000) {
          checks += 1;
          ending?.addEventListener("abort", () => (checks -= 1), { once: true });
        }
        return virtual.sleep(milliseconds, ending);
      },
    };
    const stopping = new AbortController();
    const [changed, exempted]: [string[], string[]] = [[], []];
    const kubeconfig = await server.management.kubeconfig();
    let serves = false;
    let mayExempt = false;
    const watchdog = createWebhookWatchdog({
      apis: () => [{ id: "default.web", mayExempt, access: async () => (serves ? { kubeconfig } : undefined) }],
      changed: (id) => void changed.push(id),
      exempted: (id, webhook) => void exempted.push(`${id} ${webhook}`),
      clock,
      log: silentLog,
    });
    const running = watchdog.run(stopping.signal);
    /** Time passes while no check is running, however slow the machine is. */
    const pass = async (holds: () => boolean): Promise<void> => {
      for (let i = 0; !holds(); i++) {
        if (i === 10_000) throw new Error("it did not happen");
        if (checks === 0) await virtual.advance(1_000);
        await new Promise((done) => setTimeout(done, 5));
      }
    };
    let seconds = 0;
    await pass(() => ++seconds > 40);
    expect(watchdog.findings("default.web")).toBeUndefined();
    serves = true;
    await pass(() => changed.length === 1);
    const found = watchdog.findings("default.web") ?? [];
    expect(named(found)).toEqual(["ValidatingWebhookConfiguration broken broken.example.com"]);
    mayExempt = true;
    await pass(() => changed.length === 2);
    expect(watchdog.findings("default.web")).toEqual([]);
    expect(exempted).toEqual(["default.web webhook broken.example.com of ValidatingWebhookConfiguration broken"]);
    stopping.abort(new Error("stopped"));
    await running;
  });
});
