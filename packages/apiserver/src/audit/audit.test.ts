import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { Socket, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createAuthority,
  issueCertificate,
  parseCidr,
  reachWithin,
  silentLog,
  systemClock,
  VirtualClock,
  type LogFields,
} from "@causeway/foundation";
import { records, type Json } from "../json/json.ts";
import { recordRequest } from "./event.ts";
import { fileSink } from "./file-sink.ts";
import { compilePolicy } from "./policy.ts";
import type { Audited } from "../contract/audit.ts";
import { webhookSink } from "./webhook-sink.ts";
import { createServerClient, createWebhookClient } from "../auth/webhook-client.ts";
import { ClusterMetrics } from "../contract/cluster-metrics.ts";
import { startListener } from "../testing/https.ts";
import { openAudit } from "./audit.ts";

const DAY = 86_400_000;
const cidrs = (text: string) => [parseCidr(text)].flatMap((each) => each ?? []);
const user = { name: "jane", groups: ["dev", "system:authenticated"] };
const pods: Audited = {
  user,
  verb: "get",
  namespace: "a",
  group: "",
  version: "v1",
  plural: "pods",
  subresource: "",
  name: "p",
};
const status = { ...pods, subresource: "status" };
const path: Audited = { ...pods, namespace: "", plural: "", name: "", path: "/healthz/log" };

function policyOf(...rules: readonly Json[]): Json {
  return { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules };
}

describe("an audit policy", () => {
  it.each<[Json, Audited, boolean]>([
    [{}, pods, true],
    [{}, path, true],
    [{ users: ["jane"] }, pods, true],
    [{ users: ["joe"] }, pods, false],
    [{ users: ["jane"] }, { ...pods, user: undefined }, false],
    [{ userGroups: ["dev"] }, pods, true],
    [{ userGroups: ["ops"] }, pods, false],
    [{ verbs: ["get", "list"] }, pods, true],
    [{ verbs: ["list"] }, pods, false],
    [{ namespaces: ["a"] }, pods, true],
    [{ namespaces: ["b"] }, pods, false],
    [{ namespaces: [""] }, { ...pods, namespace: "" }, true],
    [{ namespaces: ["a"] }, path, false],
    [{ resources: [{ group: "" }] }, pods, true],
    [{ resources: [{ group: "apps" }] }, pods, false],
    [{ resources: [{ group: "", resources: ["pods"] }] }, pods, true],
    [{ resources: [{ group: "", resources: ["pods"] }] }, status, false],
    [{ resources: [{ group: "", resources: ["pods/status"] }] }, status, true],
    [{ resources: [{ group: "", resources: ["pods/*"] }] }, status, true],
    [{ resources: [{ group: "", resources: ["*/status"] }] }, status, true],
    [{ resources: [{ group: "", resources: ["*"] }] }, status, true],
    [{ resources: [{ group: "", resources: ["pods"], resourceNames: ["p"] }] }, pods, true],
    [{ resources: [{ group: "", resources: ["pods"], resourceNames: ["q"] }] }, pods, false],
    [{ nonResourceURLs: ["/healthz*"] }, path, true],
    [{ nonResourceURLs: ["/healthz"] }, path, false],
    [{ nonResourceURLs: ["*"] }, path, true],
    [{ nonResourceURLs: ["*"] }, pods, false],
  ])("with the rule %j records %j at level %s", (rule, asked, expected) => {
    expect(compilePolicy(policyOf({ level: "Metadata", ...rule }))(asked) !== undefined).toBe(expected);
  });

  it("goes by the first rule that fits, and leaves out stages of both itself and the rule", () => {
    const evaluate = compilePolicy({
      ...policyOf(
        { level: "None", verbs: ["get"] },
        { level: "Request", omitStages: ["Panic"], omitManagedFields: false },
      ),
      omitStages: ["RequestReceived"],
      omitManagedFields: true,
    });
    expect(evaluate(pods)).toBeUndefined();
    expect(evaluate({ ...pods, verb: "list" })).toEqual({
      level: "Request",
      omitStages: new Set(["RequestReceived", "Panic"]),
      omitManagedFields: false,
    });
  });

  it.each<[string, Json]>([
    ["of another kind", { ...policyOf({ level: "None" }), kind: "Role" }],
    ["without rules", policyOf()],
    ["with a level that there is not", policyOf({ level: "All" })],
    ["with a stage that there is not", policyOf({ level: "None", omitStages: ["Later"] })],
    ["about a path that is none", policyOf({ level: "None", nonResourceURLs: ["healthz"] })],
    ["with a star inside a path", policyOf({ level: "None", nonResourceURLs: ["/a*/b"] })],
    ["about both paths and resources", policyOf({ level: "None", nonResourceURLs: ["/a"], namespaces: ["a"] })],
    ["with names of no resource", policyOf({ level: "None", resources: [{ resourceNames: ["a"] }] })],
  ])("%s is refused", (_what, policy) => {
    expect(() => compilePolicy(policy)).toThrow(expect.objectContaining({ code: "AUDIT_POLICY_INVALID" }));
  });
});

describe("audit events", () => {
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "audit-"));
    file = join(dir, "audit.log");
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it("are lines of a file that its owner alone reads, after those of the last run", async () => {
    for (const event of ['{"a":1}', '{"a":2}']) {
      const sink = fileSink({ file }, { clock: systemClock, log: silentLog });
      sink.write(event);
      await sink.close();
    }
    expect(readFileSync(file, "utf8")).toBe('{"a":1}\n{"a":2}\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("go to a new file when one is full; no more files are kept than requested, and none for longer", async () => {
    const clock = new VirtualClock();
    const event = JSON.stringify({ filler: "x".repeat(600 * 1024) });
    const write = async (): Promise<void> => {
      const sink = fileSink({ file, maxSize: 1, maxBackups: 2, maxAge: 3 }, { clock, log: silentLog });
      sink.write(event);
      await sink.close();
      await clock.advance(1000);
    };
    for (let i = 0; i < 5; i += 1) await write();
    expect(readdirSync(dir).length).toBe(3);
    for (const name of readdirSync(dir)) {
      expect(readFileSync(join(dir, name), "utf8")).toBe(`${event}\n`);
      expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
    }
    await clock.advance(4 * DAY);
    await write();
    expect(readdirSync(dir).length).toBe(2);
  });

  it("cannot go where nothing can be written", () => {
    writeFileSync(join(dir, "plain"), "");
    const open = () => fileSink({ file: join(dir, "plain/audit.log") }, { clock: systemClock, log: silentLog });
    expect(open).toThrow(expect.objectContaining({ code: "AUDIT_LOG_UNWRITABLE" }));
    expect(existsSync(file)).toBe(false);
  });

  describe("for a webhook", () => {
    interface Received {
      readonly lists: Json[];
      readonly authorization: (string | undefined)[];
      answer: number;
      readonly kubeconfigFile: string;
      close(): Promise<void>;
    }

    async function listenTo(): Promise<Received> {
      const authority = await createAuthority({ commonName: "audit authority", lifetime: DAY });
      const serving = await issueCertificate(authority, {
        commonName: "audit",
        ipAddresses: ["127.0.0.1"],
        usages: ["server"],
        lifetime: DAY,
      });
      const received: { lists: Json[]; authorization: (string | undefined)[]; answer: number } = {
        lists: [],
        authorization: [],
        answer: 200,
      };
      const server = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
        let body = "";
        request.on("data", (chunk: Buffer) => (body += chunk.toString()));
        request.on("end", () => {
          received.authorization.push(request.headers.authorization);
          if (received.answer === 200) received.lists.push(JSON.parse(body) as Json);
          response.statusCode = received.answer;
          response.end("{}");
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const kubeconfigFile = join(dir, "webhook.kubeconfig");
      const ca = Buffer.from(authority.certificate).toString("base64");
      const kubeconfig = {
        apiVersion: "v1",
        kind: "Config",
        clusters: [
          { name: "c", cluster: { server: `https://127.0.0.1:${port}/audit`, "certificate-authority-data": ca } },
        ],
        users: [{ name: "u", user: { token: "let-me-in" } }],
        contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
        "current-context": "x",
      };
      writeFileSync(kubeconfigFile, JSON.stringify(kubeconfig));
      const close = (): Promise<void> => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(() => resolve()));
      };
      return Object.assign(received, { kubeconfigFile, close });
    }

    const bounds = { batchSize: 400, batchWait: 60_000, longestQueue: 1_000, largestQueue: 1_000_000 };

    it("go in batches, the last one at the end", async () => {
      const webhook = await listenTo();
      const client = createWebhookClient(webhook.kubeconfigFile);
      const sink = webhookSink(
        client,
        { ...bounds, batchSize: 2 },
        { clock: systemClock, log: silentLog, lastTimeout: 30_000 },
      );
      for (const event of ['{"a":1}', '{"a":2}', '{"a":3}']) sink.write(event);
      await sink.close();
      await webhook.close();
      expect(webhook.lists.map((l) => records(l["items"]))).toEqual([[{ a: 1 }, { a: 2 }], [{ a: 3 }]]);
      expect(webhook.lists[0]).toMatchObject({ kind: "EventList", apiVersion: "audit.k8s.io/v1" });
      expect(webhook.authorization).toEqual(["Bearer let-me-in", "Bearer let-me-in"]);
    });

    it("are lost when it cannot be reached, and the log says how many without their content", async () => {
      const webhook = await listenTo();
      webhook.answer = 500;
      const logged: [string, LogFields | undefined][] = [];
      const log = { ...silentLog, error: (message: string, fields?: LogFields) => logged.push([message, fields]) };
      const sink = webhookSink(createWebhookClient(webhook.kubeconfigFile), bounds, {
        clock: systemClock,
        log: { ...log, error: (m, f) => void log.error(m, f) },
        lastTimeout: 30_000,
      });
      sink.write('{"secret":"hidden"}');
      await sink.close();
      await webhook.close();
      expect(logged).toEqual([["audit events were lost", expect.objectContaining({ events: 1 })]]);
      expect(JSON.stringify(logged)).not.toContain("hidden");
    });

    it.each([
      ["many", { longestQueue: 4 }, "x"],
      ["large", { largestQueue: 400 }, "x".repeat(99)],
    ])("are lost where too %s wait for one that does not respond, and are counted", async (_, bound, text) => {
      const listener = await startListener();
      listener.answer = () => undefined;
      const metrics = new ClusterMetrics();
      const reach = reachWithin(cidrs("127.0.0.0/8"));
      const client = createServerClient({ url: listener.url, ca: listener.ca, token: undefined, reach });
      const world = { clock: new VirtualClock(), log: silentLog, metrics, lastTimeout: 0 };
      const sink = webhookSink(client, { ...bounds, batchSize: 2, ...bound }, world);
      for (let i = 0; i < 10; i += 1) sink.write(text);
      await sink.close();
      sink.write(text);
      listener.close();
      const rendered = await metrics.registry.render();
      expect(rendered).toContain('apiserver_audit_error_total{plugin="webhook"} 4');
      // Six of ten, and one after the end.
      expect(rendered).toContain('apiserver_audit_error_total{plugin="buffered"} 7');
    });

    it("of a tenant are lost where its server redirects, and where it is in no permitted network", async () => {
      const [listener, other] = [await startListener(), await startListener()];
      const { url, ca: certificateAuthority } = listener;
      listener.answer = () => [307, "", { location: other.url }];
      const metrics = new ClusterMetrics();
      const world = { clock: new VirtualClock(), log: silentLog, metrics };
      const policy = policyOf({ level: "Metadata" });
      for (const network of ["127.0.0.0/8", "192.0.2.0/24"]) {
        const audit = openAudit({ policy, server: { url, certificateAuthority, networks: [network] } }, world);
        const request = new IncomingMessage(new Socket());
        const recorded = audit.begin({ request, response: new ServerResponse(request), asked: pods, id: "a" });
        expect(recorded).toBeDefined();
        await audit.close();
      }
      listener.close();
      other.close();
      expect([listener.asked.length, other.asked.length]).toEqual([1, 0]);
      expect(await metrics.registry.render()).toContain('apiserver_audit_error_total{plugin="webhook"} 2');
    });
  });
});

describe("a request that ends in a defect of the server", () => {
  it("is recorded as one, with the answer that it got", () => {
    const written: Json[] = [];
    const recorder = {
      clock: new VirtualClock(),
      write: (event: string) => void written.push(JSON.parse(event) as Json),
    };
    const recording = {
      level: "Metadata",
      omitStages: new Set(["RequestReceived"]),
      omitManagedFields: false,
    } as const;
    const request = new IncomingMessage(new Socket());
    const response = new ServerResponse(request);
    const audit = recordRequest(recorder, recording, { request, response, asked: pods, id: "a" });
    audit.annotate("a", "first");
    audit.annotate("a", "second");
    audit.panicked();
    response.statusCode = 500;
    response.setHeader("content-type", "application/json");
    response.end(
      '{"kind":"Status","metadata":{},"status":"Failure","message":"Internal error occurred: x","code":500}',
    );
    expect(written).toEqual([
      expect.objectContaining({
        stage: "Panic",
        annotations: { a: "first" },
        responseStatus: { metadata: {}, status: "Failure", message: "Internal error occurred: x", code: 500 },
      }),
    ]);
  });

  it("is recorded as closed early when the client goes before the answer", () => {
    const written: Json[] = [];
    const recorder = {
      clock: new VirtualClock(),
      write: (event: string) => void written.push(JSON.parse(event) as Json),
    };
    const recording = { level: "Metadata", omitStages: new Set<string>(), omitManagedFields: false } as const;
    const request = new IncomingMessage(new Socket());
    const response = new ServerResponse(request);
    recordRequest(recorder, recording, { request, response, asked: pods, id: "a" });
    response.emit("close");
    expect(written.map((e) => e["stage"])).toEqual(["RequestReceived", "ResponseComplete"]);
    expect(written[1]?.["responseStatus"]).toEqual({
      metadata: {},
      status: "Success",
      message: "Connection closed early",
      code: 200,
    });
  });
});
