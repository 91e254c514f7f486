import { CausewayError, silentLog, VirtualClock, type Log } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import type { KubernetesClient } from "../client/interface.ts";
import type { Event } from "../types/core.ts";
import { createEventRecorder } from "./recorder.ts";
import { Recent } from "./recent.ts";

const thing = (name: string, namespace?: string) => ({
  apiVersion: "g/v1",
  kind: "Thing",
  metadata: { name, uid: `uid-${name}`, ...(namespace ? { namespace } : {}) },
});
const made = { type: "Normal", reason: "Made", message: "It was made." } as const;

function scene(log?: Log) {
  const clock = new VirtualClock();
  const created: Event[] = [];
  const counted: unknown[] = [];
  const fail: { create?: Error; patch?: Error } = {};
  const client = {
    create: (_: unknown, event: Event) => {
      if (fail.create) return Promise.reject(fail.create);
      created.push(event);
      return Promise.resolve(event);
    },
    patch: (_: unknown, __: unknown, patch: { body: unknown }) => {
      if (fail.patch) return Promise.reject(fail.patch);
      counted.push(patch.body);
      return Promise.resolve({});
    },
  } as unknown as KubernetesClient;
  return {
    clock,
    created,
    counted,
    fail,
    recorder: createEventRecorder(client, { component: "me", clock, ...(log ? { log } : {}) }),
  };
}

describe("an event", () => {
  test("of type Warning is a line of the log when it is new, with the object, and a Normal one is none", async () => {
    const lines: unknown[] = [];
    const log: Log = { ...silentLog, info: (...line) => void lines.push(line), with: () => log };
    const { recorder } = scene(log);
    const warning = { type: "Warning", reason: "Refused", message: "It was refused." } as const;
    for (const each of [made, warning, warning]) recorder.event(thing("a", "n"), each);
    recorder.event(thing("node"), warning);
    await recorder.flush();
    const said = (object: string) => ["warning event", { object, reason: "Refused", message: "It was refused." }];
    expect(lines).toEqual([said("Thing n/a"), said("Thing node")]);
  });

  test("is made in the object's namespace, or in default for one that is in none", async () => {
    const { recorder, created } = scene();
    recorder.event(thing("a", "n"), made);
    recorder.event(thing("node"), { ...made, type: "Warning" });
    await recorder.flush();
    expect(created[0]).toMatchObject({
      metadata: { namespace: "n" },
      involvedObject: { apiVersion: "g/v1", kind: "Thing", namespace: "n", name: "a", uid: "uid-a" },
      ...made,
      source: { component: "me" },
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:00:00Z",
      count: 1,
    });
    expect(created[0]?.metadata.name).toMatch(/^a\.[0-9a-f]{16}$/);
    expect(created[1]).toMatchObject({ metadata: { namespace: "default" }, type: "Warning" });
    expect(created[1]?.involvedObject.namespace).toBeUndefined();
  });

  test("is counted when it repeats within ten minutes, and created again after", async () => {
    const { recorder, created, counted, clock } = scene();
    recorder.event(thing("a", "n"), made);
    await clock.advance(5000);
    recorder.event(thing("a", "n"), made);
    recorder.event(thing("a", "n"), { ...made, message: "Another." });
    await recorder.flush();
    expect(created).toHaveLength(2);
    expect(counted).toEqual([{ count: 2, lastTimestamp: "2026-01-01T00:00:05Z" }]);
    await clock.advance(600_000);
    recorder.event(thing("a", "n"), made);
    await recorder.flush();
    expect(created).toHaveLength(3);
  });

  test("is created again when the old one has expired on the server", async () => {
    const { recorder, created, fail } = scene();
    recorder.event(thing("a", "n"), made);
    fail.patch = new CausewayError("KUBERNETES_NOT_FOUND", "expired");
    recorder.event(thing("a", "n"), made);
    await recorder.flush();
    expect(created).toHaveLength(2);
  });

  test("that the server refuses causes no error for the caller", async () => {
    const { recorder, created, fail } = scene();
    fail.create = new CausewayError("KUBERNETES_FORBIDDEN", "the namespace is being terminated");
    recorder.event(thing("a", "n"), made);
    await recorder.flush();
    delete fail.create;
    recorder.event(thing("a", "n"), made);
    await recorder.flush();
    expect(created).toHaveLength(1);
  });

  test("is dropped when an object exceeds its rate of events, until time has passed", async () => {
    const { recorder, created, clock } = scene();
    for (let i = 0; i < 100; i++) recorder.event(thing("a", "n"), { ...made, message: `m${i}` });
    recorder.event(thing("b", "n"), made);
    await recorder.flush();
    expect(created).toHaveLength(26);
    await clock.advance(300_000);
    recorder.event(thing("a", "n"), { ...made, message: "later" });
    recorder.event(thing("a", "n"), { ...made, message: "too soon" });
    await recorder.flush();
    expect(created).toHaveLength(27);
  });
});

test("recent values are forgotten by age and by number", () => {
  const recent = new Recent<number>(2, 100);
  recent.set("a", 1, 0);
  recent.set("b", 2, 10);
  recent.set("a", 3, 20);
  recent.set("c", 4, 30);
  expect([recent.get("a", 50), recent.get("b", 50), recent.get("c", 50)]).toEqual([3, undefined, 4]);
  expect(recent.get("a", 120)).toBeUndefined();
});
