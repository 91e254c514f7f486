import type { HostedControlPlane } from "@causeway/api";
import { silentLog, VirtualClock } from "@causeway/foundation";
import { expect, test, vi } from "vitest";
import { auditConditions, auditEvents } from "./condition.ts";
import type { AuditFacts } from "./facts.ts";
import { countsIn, createAuditWatchdog } from "./watchdog.ts";

const [one, two] = ["https://one.test/events", "https://two.test"];

/** As kube-apiserver writes them. */
const metrics = (events: number, lost: Readonly<Record<string, number>> = {}, began = 1): string =>
  [
    `process_start_time_seconds 1.76${began}e+09`,
    "# TYPE apiserver_audit_event_total counter",
    `apiserver_audit_event_total ${events}`,
    ...Object.entries(lost).map(([plugin, count]) => `apiserver_audit_error_total{plugin="${plugin}"} ${count}`),
    'apiserver_audit_level_total{level="Metadata"} 9',
  ].join("\n");

test("events that the webhook lost are counted for each API server once, and not what the operator's log lost", () => {
  const all = [metrics(7, { webhook: 2, log: 9 }), metrics(5, { webhook: 1, buffered: 1 }, 2), metrics(6, {}, 2)];
  expect([...countsIn(all).values()]).toEqual([
    { events: 7, lost: 2 },
    { events: 6, lost: 2 },
  ]);
});

const objectOf = (url: string | undefined, status?: string, reason = "x") =>
  ({
    spec: url === undefined ? {} : { audit: { webhook: { url } } },
    status: { conditions: status === undefined ? [] : [{ type: "AuditDelivered", status, reason }] },
  }) as unknown as HostedControlPlane;
const failing: AuditFacts = { type: "failing", url: one };
const delivered: AuditFacts = { type: "delivered", url: one };

test.for<[string, HostedControlPlane, AuditFacts | undefined, string | undefined, string[]]>([
  ["is not there before a check", objectOf(one), undefined, undefined, []],
  ["is not there without a sink", objectOf(undefined), undefined, undefined, []],
  ["is over with the sink", objectOf(undefined, "False"), failing, "True NoAuditSink", []],
  ["is Unknown for a sink after none", objectOf(one, "True", "NoAuditSink"), undefined, "Unknown WaitingForEvents", []],
  ["remains after a restart of the controller", objectOf(one, "False"), undefined, undefined, []],
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
  const warnings: string[] = [];
  const watchdog = createAuditWatchdog({
    watched: () => [{ id: "default.web", url, access: async () => ({ kubeconfig: "" }) }],
    changed,
    read: () => answer(),
    clock,
    log: { ...silentLog, warn: (message) => void warnings.push(message) },
  });
  const stop = new AbortController();
  const running = watchdog.run(stop.signal);
  const becomes = async (
    minutes: number,
    text: string | readonly string[] | Error,
  ): Promise<AuditFacts | undefined> => {
    answer = text instanceof Error ? () => Promise.reject(text) : async () => [text].flat();
    await clock.advance(minutes * 60_000);
    return watchdog.facts("default.web");
  };
  // What was lost before it was seen is no finding: it may be over.
  expect(await becomes(9, metrics(5, { webhook: 3 }))).toBeUndefined();
  expect(await becomes(4, metrics(6, { webhook: 3 }))).toBeUndefined();
  expect(await becomes(1, metrics(6, { webhook: 3 }))).toEqual(delivered);
  expect(await becomes(1, metrics(7, { webhook: 4 }))).toEqual(failing);
  expect(await becomes(60, metrics(7, { webhook: 4 }))).toEqual(failing);
  const uncounted = "audit events of a control plane could not be counted, again";
  expect(await becomes(1, new Error("connection refused"))).toEqual(failing);
  expect(warnings).not.toContain(uncounted);
  expect(await becomes(9, new Error("connection refused"))).toEqual(failing);
  expect(warnings.filter((each) => each === uncounted)).toHaveLength(9);
  // Another API server, which counts from the beginning.
  const other = (events: number) => metrics(events, {}, 2);
  expect(await becomes(1, other(1))).toEqual(failing);
  expect(await becomes(4, other(2))).toEqual(failing);
  expect(await becomes(1, other(2))).toEqual(delivered);
  // The one that lost events before is read twice, by the Service's address too, then not at all, then once.
  const first = metrics(8, { webhook: 4 });
  for (const seen of [[first, other(3)], [first, other(3), first], [other(3)], [first, other(3)]])
    expect(await becomes(1, seen)).toEqual(delivered);
  expect(changed).toHaveBeenCalledTimes(3);
  url = two;
  expect(await becomes(1, metrics(9, { webhook: 9 }))).toEqual(delivered);
  expect(await becomes(1, metrics(10, { webhook: 10 }))).toEqual({ type: "failing", url: two });
  stop.abort();
  await running;
});
