import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostedControlPlane } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { silentLog, VirtualClock } from "@causeway/foundation";
import { loadKubeconfig } from "@causeway/kubernetes";
import { describe, expect, test, vi } from "vitest";
import { issuersText } from "../issuers.ts";
import { outputOf } from "../pods/output.ts";
import { recentLines } from "../process/recent-lines.ts";
import { componentLabel } from "../pods/tenant.ts";
import type { TokenIssuers } from "../runtime.ts";
import { issuerConditions, issuerEvents } from "./condition.ts";
import type { IssuerFacts } from "./facts.ts";
import { readMetrics } from "../api-metrics.ts";
import { beliefIn, namedIn } from "./read.ts";
import { createIssuerWatchdog } from "./watchdog.ts";

const now = Date.UTC(2026, 0, 1);
const entry = (url: string): TokenIssuers[number] => ({
  issuer: { url, audiences: ["web"] },
  claimMappings: { username: { claim: "sub", prefix: "oidc:" } },
});
const [one, two] = [entry("https://one.test"), entry("https://one.test/realms/two")];

const PREFIX = "apiserver_authentication_config_controller_";
/** As kube-apiserver writes them; times are seconds before now. */
function metrics({
  failed,
  succeeded,
  jwt,
}: {
  failed?: number;
  succeeded?: number;
  jwt?: TokenIssuers | "none";
}): string {
  const time = (status: string, ago: number): string =>
    `${PREFIX}automatic_reload_last_timestamp_seconds{apiserver_id_hash="sha256:14f9",status="${status}"} ${now / 1_000 - ago}`;
  const hash =
    jwt === "none"
      ? ""
      : `sha256:${createHash("sha256")
          .update(issuersText(jwt ?? [], "v1"))
          .digest("hex")}`;
  return [
    "# TYPE apiserver_requests_total counter",
    `apiserver_request_total{code="200"} 4`,
    ...(failed === undefined ? [] : [time("failure", failed)]),
    ...(succeeded === undefined ? [] : [time("success", succeeded)]),
    ...(jwt === undefined ? [] : [`${PREFIX}last_config_info{apiserver_id_hash="sha256:14f9",hash="${hash}"} 1`]),
  ].join("\n");
}

/** Issuers are as they are since five minutes before. */
const since = now - 300_000;

test.for<[string, string, string]>([
  ["with the hash of these issuers", metrics({ jwt: [one] }), "accepted"],
  ["with the hash of these issuers, after a failure", metrics({ jwt: [one], failed: 10, succeeded: 70 }), "accepted"],
  ["with another hash, before it reads them", metrics({ jwt: [two] }), "pending"],
  ["with another hash, after it accepted others", metrics({ jwt: [two], failed: 70, succeeded: 10 }), "pending"],
  ["with another hash, after a failure", metrics({ jwt: [two], failed: 10, succeeded: 70 }), "refused"],
  ["with another hash, after its only failure, before the change", metrics({ jwt: [two], failed: 301 }), "pending"],
  ["without a hash or a change", metrics({}), "accepted"],
  ["without a hash, after a failure", metrics({ failed: 10 }), "refused"],
  ["with an empty hash, after a failure", metrics({ failed: 10, jwt: "none" }), "refused"],
  ["with an empty hash, after a failure before the change", metrics({ failed: 301, jwt: "none" }), "accepted"],
  ["without a hash, after a failure that is not repeated", metrics({ failed: 301 }), "accepted"],
  ["without a hash, after a success", metrics({ failed: 70, succeeded: 10 }), "accepted"],
])("a kube-apiserver %s: %s", ([, text, belief]) => {
  expect(beliefIn(text, [one], { now, since })).toBe(belief);
});

test("issuers are named that the output of API servers names, and not those whose URL begins in the same way", () => {
  const lines = (url: string) => [
    `E1129 20:01:02.000001 1 oidc.go:421] oidc authenticator: initializing plugin: Get "${url}/.well-known/openid-configuration": dial tcp: connect: connection refused`,
    `E1129 20:01:02.000001 1 authentication.go:785] "failed to update authentication config" err="[oidc: authenticator for issuer \\"${url}\\" is not healthy: 404 Not Found, context deadline exceeded]"`,
    `E1129 20:01:02.000001 1 oidc.go:421] oidc authenticator: initializing plugin: oidc: issuer did not match the issuer returned by provider, expected "${url}" got "https://x"`,
  ];
  for (const { issuer } of [one, two])
    for (const line of lines(issuer.url)) expect(namedIn(`I1129 other\n${line}`, [one, two])).toEqual([issuer.url]);
  expect(namedIn(`I1129 a request for https://one.test/.well-known/`, [one, two])).toEqual([]);
});

describe("the condition", () => {
  const objectOf = (jwt: TokenIssuers | undefined, status?: string) =>
    ({
      spec: { authentication: jwt && { jwt } },
      status: { conditions: status === undefined ? [] : [{ type: "IssuersAccepted", status, reason: "x" }] },
    }) as unknown as HostedControlPlane;
  const refused: IssuerFacts = { type: "refused", jwt: [one, two], named: [two.issuer.url] };

  test.for<[string, HostedControlPlane, IssuerFacts | undefined, string | undefined]>([
    ["is not there before a check", objectOf([one]), undefined, undefined],
    ["is not there without the field", objectOf(undefined), undefined, undefined],
    ["ends with the field", objectOf(undefined, "False"), refused, "True NoIssuers"],
    ["is True", objectOf([one]), { type: "accepted", jwt: [one] }, "True IssuersAccepted"],
    ["waits at first", objectOf([one]), { type: "pending", jwt: [one] }, undefined],
    ["is Unknown later", objectOf([one], "True"), { type: "pending", jwt: [one] }, "Unknown WaitingForAPIServers"],
    ["is Unknown after a change", objectOf([one], "False"), refused, "Unknown WaitingForAPIServers"],
    ["is False", objectOf([one, two], "Unknown"), refused, "False IssuersNotAccepted"],
  ])("%s", ([, object, facts, expected]) => {
    const [wanted] = issuerConditions(object, facts);
    expect(wanted && `${wanted.status} ${wanted.reason}`).toBe(expected);
  });

  test("names the issuer, or those of which one is meant, who must act, and the code", () => {
    const messageOf = (named: readonly string[], jwt = [one, two]) =>
      issuerConditions(objectOf(jwt), { type: "refused", jwt, named })[0]?.message ?? "";
    expect(messageOf([two.issuer.url])).toContain(": https://one.test/realms/two did not respond to them as an issuer");
    expect(messageOf([])).toContain(": at least one of https://one.test, https://one.test/realms/two did not respond");
    expect(messageOf([], [one])).toContain(": https://one.test did not respond");
    expect(messageOf([])).toMatch(/its owner must repair it.*the operator must act.*\(ISSUERS_NOT_ACCEPTED\)$/);
  });

  test("has one event when it becomes False, and one when it is True again", () => {
    const accepted: IssuerFacts = { type: "accepted", jwt: [one, two] };
    const eventsOf = (status: string | undefined, facts: IssuerFacts) =>
      issuerEvents(objectOf([one, two], status), facts).map(({ type, reason }) => `${type} ${reason}`);
    expect(eventsOf("True", refused)).toEqual(["Warning IssuersNotAccepted"]);
    expect(eventsOf("False", refused)).toEqual([]);
    expect(eventsOf("False", accepted)).toEqual(["Normal IssuersAccepted"]);
    expect([eventsOf(undefined, accepted), eventsOf("Unknown", accepted)]).toEqual([[], []]);
  });
});

test("a change is followed each minute, and rarely once it is accepted for a while; errors change nothing", async () => {
  const clock = new VirtualClock(now);
  let jwt: TokenIssuers = [one];
  let answer: () => Promise<string[]> = async () => [metrics({ jwt: [one] })];
  const read = vi.fn<() => Promise<string[]>>(() => answer());
  const output = vi.fn<() => Promise<string>>(async () => 'oidc "https://one.test/realms/two"');
  const changed = vi.fn<(id: string) => void>();
  const watchdog = createIssuerWatchdog({
    watched: () => [{ id: "default.web", jwt, access: async () => ({ kubeconfig: "" }), output }],
    changed,
    read,
    clock,
    log: silentLog,
  });
  /** Seconds since the beginning. */
  const passed = (): number => (clock.now() - now) / 1_000;
  const stop = new AbortController();
  const running = watchdog.run(stop.signal);
  await clock.advance(3_600_000);
  expect(watchdog.facts("default.web")).toEqual({ type: "accepted", jwt: [one] });
  expect(read.mock.calls.length).toBeLessThan(20);
  expect(changed).toHaveBeenCalledTimes(1);
  [jwt, answer] = [[one, two], async () => [metrics({ jwt: [one, two] }), metrics({ jwt: [one], failed: -passed() })]];
  await clock.advance(5_000);
  expect(watchdog.facts("default.web")).toEqual({ type: "refused", jwt: [one, two], named: [two.issuer.url] });
  const before = read.mock.calls.length;
  await clock.advance(600_000);
  expect(read.mock.calls.length - before).toBe(10);
  expect(changed).toHaveBeenCalledTimes(2);
  answer = () => Promise.reject(new Error("connection refused"));
  await clock.advance(120_000);
  expect(watchdog.facts("default.web")?.type).toBe("refused");
  answer = async () => [metrics({ jwt: [one, two] })];
  output.mockRejectedValue(new Error("pods/log is forbidden"));
  await clock.advance(60_000);
  expect(watchdog.facts("default.web")?.type).toBe("accepted");
  answer = async () => [metrics({ jwt: [one], failed: -passed() })];
  await clock.advance(900_000);
  expect(watchdog.facts("default.web")).toEqual({ type: "refused", jwt: [one, two], named: [] });
  stop.abort();
  await running;
});

test("a failure of the list before is not reported of its repair, until the new one can be in the file", async () => {
  const clock = new VirtualClock(now);
  let jwt: TokenIssuers = [one];
  let isRepaired = false;
  const passed = (): number => (clock.now() - now) / 1_000;
  const watchdog = createIssuerWatchdog({
    watched: () => [{ id: "default.web", jwt, access: async () => ({ kubeconfig: "" }), output: async () => "" }],
    changed: () => {},
    // kube-apiserver fails each minute with the list that is in its file.
    read: async () => [isRepaired ? metrics({ jwt }) : metrics({ jwt: [one], failed: -passed() })],
    clock,
    log: silentLog,
  });
  const stop = new AbortController();
  const running = watchdog.run(stop.signal);
  await clock.advance(60_000);
  jwt = [one, two];
  await clock.advance(65_000);
  expect(watchdog.facts("default.web")?.type).toBe("refused");
  jwt = [two];
  await clock.advance(65_000);
  expect(watchdog.facts("default.web")).toEqual({ type: "pending", jwt: [two] });
  isRepaired = true;
  await clock.advance(65_000);
  expect(watchdog.facts("default.web")).toEqual({ type: "accepted", jwt: [two] });
  [jwt, isRepaired] = [[one, two], false];
  await clock.advance(65_000);
  jwt = [two, one];
  await clock.advance(240_000);
  expect(watchdog.facts("default.web")).toMatchObject({ type: "refused", jwt: [two, one] });
  stop.abort();
  await running;
});

test("the log says once that issuers cannot be checked, when three checks in a row failed", async () => {
  const clock = new VirtualClock(now);
  let answer: () => Promise<string[]> = () => Promise.reject(new Error("connection refused"));
  const warn = vi.fn<typeof silentLog.warn>();
  const watchdog = createIssuerWatchdog({
    watched: () => [
      { id: "default.web", jwt: [one], access: async () => ({ kubeconfig: "" }), output: async () => "" },
    ],
    changed: () => {},
    read: () => answer(),
    clock,
    log: { ...silentLog, warn },
  });
  const stop = new AbortController();
  const running = watchdog.run(stop.signal);
  await clock.advance(119_000);
  expect(warn).not.toHaveBeenCalled();
  await clock.advance(3_600_000);
  const fact = { id: "default.web", error: "connection refused" };
  expect(warn.mock.calls).toEqual([["issuers of a control plane could not be checked", fact]]);
  const failing = answer;
  answer = async () => [metrics({ jwt: [one] })];
  await clock.advance(60_000);
  answer = failing;
  await clock.advance(3_600_000);
  expect(warn).toHaveBeenCalledTimes(2);
  stop.abort();
  await running;
});

test("of a program's log the lines of the last minutes are read", () => {
  const dir = mkdtempSync(join(tmpdir(), "recent-"));
  const file = join(dir, "kube-apiserver.log");
  const line = (date: Date, text: string): string => {
    const two = (value: number): string => String(value).padStart(2, "0");
    return `E${two(date.getMonth() + 1)}${two(date.getDate())} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}.000001 7 ${text}`;
  };
  expect(recentLines(file, now)).toBeUndefined();
  const old = line(new Date(now - 181_000), "old");
  writeFileSync(
    file,
    [...Array.from({ length: 9_000 }, () => old), line(new Date(now - 179_000), "new"), "no time"].join("\n"),
  );
  expect(recentLines(file, now)).toMatch(/^E\d{4} .* new$/);
  rmSync(dir, { recursive: true });
});

test("of the output of each API server no more is read than 4 MiB, whatever a tenant has it write", async () => {
  const request = vi.fn<(...call: unknown[]) => Promise<string>>(async () => "lines");
  const pod = (name: string, component: string) => ({ metadata: { name, labels: { [componentLabel]: component } } });
  const pods = { list: () => [pod("a", "kube-apiserver"), pod("b", "kube-apiserver"), pod("etcd-0", "etcd")] };
  const cluster = { informers: { client: { request } }, pods } as unknown as Parameters<typeof outputOf>[0];
  expect(await outputOf(cluster, "cp-web", new AbortController().signal)).toBe("lines\nlines");
  for (const [, path, options] of request.mock.calls) {
    expect(path).toMatch(/^\/api\/v1\/namespaces\/cp-web\/pods\/[ab]\/log$/);
    expect(options).toMatchObject({ query: { container: "kube-apiserver", limitBytes: "4194304" } });
  }
});

test("API servers that respond are read, whatever the address of their Service leads to", async () => {
  const server = await startApiServer();
  const kubeconfig = await server.management.kubeconfig();
  const { server: url } = loadKubeconfig({ text: kubeconfig });
  // Nothing listens at the port of discard, and what begins there is ended by the signal at the latest.
  const away = "https://127.0.0.1:9";
  const { signal } = new AbortController();
  const found = await readMetrics({ kubeconfig, inside: [url, away] }, ["workqueue_retries_"], signal);
  expect(found).toEqual([expect.stringMatching(/^workqueue_retries_total/)]);
  // Nothing else is kept.
  expect(found[0]?.split("\n").filter((line) => !line.startsWith("workqueue_retries_"))).toEqual([]);
  await expect(readMetrics({ kubeconfig, inside: [away] }, ["workqueue_"], signal)).rejects.toMatchObject({
    code: "KUBERNETES_UNREACHABLE",
  });
  await server.close();
});
