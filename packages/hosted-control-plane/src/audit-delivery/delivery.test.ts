import type { HostedControlPlane } from "@causeway/api";
import { silentLog, VirtualClock } from "@causeway/foundation";
import { expect, test, vi } from "vitest";
import { auditConditions, auditEvents } from "./condition.ts";
import type { AuditFacts } from "./facts.ts";
import { countsIn, createAuditWatchdog } from "./watchdog.ts";

const [one, two] = ["https://one.test/events", "https://two.test"];

/** As kube-apiserver writes them. */
const metrics = (events: number, lost: Readonly<Record<string, number>> = {}): string =>
  [
    "# TYPE apiserver_audit_event_total counter",
    `apiserver_audit_event_total ${events}`,
    ...Object.entries(lost).map(([plugin, count]) => `apiserver_audit_error_total{plugin="${plugin}"} ${count}`),
    'apiserver_audit_level_total{level="Metadata"} 9',
  ].join("\n");

test("events that the webhook lost are counted over all API servers, and not what the operator's log lost", () => {
  const all = [metrics(7, { webhook: 2, log: 9 }), metrics(5, { buffered: 1 }), metrics(0)];
  expect(countsIn(all)).toEqual({ events: 12, lost: 3 });
});

const objectOf = (url: string | undefined, status?: string) =>
  ({
    spec: url === undefined ? {} : { audit: { webhook: { url } } },
    status: { conditions: status === undefined ? [] : [{ type: "AuditDelivered", status, reason: "x" }] },
  }) as unknown as HostedControlPlane;
const failing: AuditFacts = { type: "failing", url: one };
const delivered: AuditFacts = { type: "delivered", url: one };

test.for<[string, HostedControlPlane, AuditFacts | undefined, string | undefined, string[]]>([
  ["is not there before a check", objectOf(one), undefined, undefined, []],
  ["is not there without a sink", objectOf(undefined), undefined, undefined, []],
  ["is over with the sink", objectOf(undefined, "False"), failing, "True NoAuditSink", []],
  ["is True", objectOf(one), delivered, "True AuditDelivered", []],
  ["is False", objectOf(one, "True"), failing, "False AuditSinkFailing", ["Warning AuditSinkFailing"]],
  ["remains False", objectOf(one, "False"), failing, "False AuditSinkFailing", []],
  ["is True again", objectOf(one, "False"), delivered, "True AuditDelivered", ["Normal AuditDelivered"]],
  ["is Unknown for another sink", objectOf(two, "False"), failing, "Unknown WaitingForEvents", []],
  ["is not there for another sink at first", objectOf(two), failing, undefined, []],
])("condition AuditDelivered %s", ([, object, facts, expected, events]) => {
  const [wanted] = auditConditions(object, facts);
  expect(wanted && `${wanted.status} ${wanted.reason}`).toBe(expected);
  expect(auditEvents(object, facts).map(({ type, reason }) => `${type} ${reason}`)).toEqual(events);
});

test("a sink that fails is named, with who must act and the code", () => {
  const [{ message = "" } = {}] = auditConditions(objectOf(one), failing);
  expect(message).toMatch(/https:\/\/one\.test\/events did not accept.*its owner must.*\(AUDIT_SINK_FAILING\)$/);
});

test("a sink fails once events are lost, and receives them once some were sent and none was lost in four minutes", async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  let url = one;
  let answer = async (): Promise<string[]> => [metrics(5, { webhook: 3 })];
  const changed = vi.fn<(id: string) => void>();
  const watchdog = createAuditWatchdog({
    watched: () => [{ id: "default.web", url, access: async () => ({ kubeconfig: "" }) }],
    changed,
    read: () => answer(),
    clock,
    log: silentLog,
  });
  const stop = new AbortController();
  const running = watchdog.run(stop.signal);
  const becomes = async (minutes: number, text: string | Error): Promise<AuditFacts | undefined> => {
    answer = text instanceof Error ? () => Promise.reject(text) : async () => [text];
    await clock.advance(minutes * 60_000);
    return watchdog.facts("default.web");
  };
  // What was lost before it was seen is no finding: it may be over.
  expect(await becomes(9, metrics(5, { webhook: 3 }))).toBeUndefined();
  expect(await becomes(4, metrics(6, { webhook: 3 }))).toBeUndefined();
  expect(await becomes(1, metrics(6, { webhook: 3 }))).toEqual(delivered);
  expect(await becomes(1, metrics(7, { webhook: 4 }))).toEqual(failing);
  expect(await becomes(60, metrics(7, { webhook: 4 }))).toEqual(failing);
  expect(await becomes(10, new Error("connection refused"))).toEqual(failing);
  // Another API server, which counts from the beginning.
  expect(await becomes(1, metrics(1))).toEqual(failing);
  expect(await becomes(4, metrics(2))).toEqual(failing);
  expect(await becomes(1, metrics(2))).toEqual(delivered);
  expect(changed).toHaveBeenCalledTimes(3);
  url = two;
  expect(await becomes(1, metrics(9, { webhook: 9 }))).toEqual(delivered);
  expect(await becomes(1, metrics(10, { webhook: 10 }))).toEqual({ type: "failing", url: two });
  stop.abort();
  await running;
});
