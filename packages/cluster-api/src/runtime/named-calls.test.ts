import { describe, expect, test } from "vitest";
import type { ExtensionConfig } from "@causeway/api";
import { CausewayError, VirtualClock } from "@causeway/foundation";
import { Namespace, type Informer, type KubernetesClient } from "@causeway/kubernetes";
import type { ExtensionCall } from "./client.ts";
import { firstPause } from "./extension-gate.ts";
import { hooksApi } from "./hooks.ts";
import { againAfterFailure, NamedCalls, type NamedCall } from "./named-calls.ts";
import { KeptResponses } from "./responses.ts";

const config = (more: Partial<ExtensionConfig["spec"]> = {}, failurePolicy: "Fail" | "Ignore" = "Fail") =>
  ({
    apiVersion: "runtime.cluster.x-k8s.io/v1beta2",
    kind: "ExtensionConfig",
    metadata: { name: "ext", uid: "u", generation: 1 },
    spec: { clientConfig: { url: "https://ext.example.com" }, settings: { a: "config", b: "config" }, ...more },
    status: {
      handlers: [
        {
          name: "generate.ext",
          requestHook: { apiVersion: hooksApi, hook: "GeneratePatches" },
          timeoutSeconds: 7,
          failurePolicy,
        },
      ],
    },
  }) as ExtensionConfig;
const call: NamedCall = {
  hook: "GeneratePatches",
  handler: "generate.ext",
  namespace: "default",
  settings: { b: "class" },
  fields: { items: [] },
  keep: 30_000,
  deadline: Infinity,
};

/** Calls of one extension that answers with what `answer` returns or throws. */
function played(configs: ExtensionConfig[], answer: () => unknown) {
  const clock = new VirtualClock();
  const asked: ExtensionCall[] = [];
  const namespace = { ...Namespace, metadata: { name: "default", labels: { team: "x" } } };
  const calls = new NamedCalls({
    configs: { list: () => configs } as unknown as Informer<ExtensionConfig>,
    kubernetes: { find: () => Promise.resolve(namespace) } as unknown as KubernetesClient,
    extensions: {
      call(one) {
        asked.push(one);
        return Promise.resolve().then(answer);
      },
    },
    clock,
  });
  const signal = new AbortController().signal;
  return { clock, asked, ask: (more: Partial<NamedCall> = {}) => calls.call({ ...call, ...more }, signal) };
}

describe("a handler that a ClusterClass names", () => {
  test("is called with the settings of both, those of the class first", async () => {
    const { asked, ask } = played([config()], () => ({ status: "Success", items: [1] }));
    expect(await ask()).toEqual({ status: "Success", items: [1] });
    expect(asked[0]).toMatchObject({
      path: "generatepatches/generate",
      timeout: 7_000,
      body: { kind: "GeneratePatchesRequest", settings: { a: "config", b: "class" }, items: [] },
    });
  });
  test("is found in the namespaces that its extension serves", async () => {
    const selector = { namespaceSelector: { matchLabels: { team: "x" } } };
    expect(await played([config(selector)], () => ({ status: "Success" })).ask()).toEqual({ status: "Success" });
  });
  test.each<[string, ExtensionConfig[], Partial<NamedCall>, unknown, RegExp]>([
    ["of no extension", [], {}, {}, /no ExtensionConfig has discovered/],
    ["of another hook", [config()], { hook: "ValidateTopology" }, {}, /not one of hook ValidateTopology/],
    [
      "of an extension for other namespaces",
      [config({ namespaceSelector: { matchLabels: { team: "y" } } })],
      {},
      {},
      /namespaceSelector of ExtensionConfig ext does not select namespace default/,
    ],
    ["that answers Failure", [config()], {}, { status: "Failure", message: "no" }, /got failure response: no/],
    ["that answers Failure and may be ignored", [config({}, "Ignore")], {}, { status: "Failure" }, /failure response/],
    ["that answers without status", [config()], {}, {}, /no status Success/],
    ["that answers with a list", [config()], {}, [], /not a JSON object/],
  ])("fails %s", async (_, configs, more, answer, expected) => {
    const error: unknown = await played(configs, () => answer)
      .ask(more)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "RUNTIME_EXTENSION_FAILED" });
    expect((error as Error).message).toContain('"generate.ext"');
    expect((error as Error).message).toMatch(expected);
  });
  test("that cannot be reached and may be ignored has its last response to an equal request, or none", async () => {
    const good = { status: "Success", items: [1] };
    let answer = (): unknown => good;
    const { clock, asked, ask } = played([config({}, "Ignore")], () => answer());
    await ask();
    answer = () => {
      throw new CausewayError("RUNTIME_EXTENSION_FAILED", "no route");
    };
    await clock.advance(call.keep);
    expect(await ask()).toEqual(good);
    expect(await ask({ fields: { items: [2] } })).toBeUndefined();
    expect(asked).toHaveLength(2);
    // No failure is kept in the place of a response: not after its own time either.
    await clock.advance(call.keep);
    expect(await ask()).toEqual(good);
    expect(await ask({ fields: { items: [2] } })).toBeUndefined();
    expect(asked).toHaveLength(3);
    await clock.advance(2 * firstPause);
    answer = () => ({ status: "Success", items: [3] });
    expect(await ask()).toEqual({ status: "Success", items: [3] });
  });
  test("is called with the same request once in a time, a failure for a shorter one", async () => {
    let answer: () => unknown = () => ({ status: "Success" });
    const { clock, asked, ask } = played([config()], () => answer());
    await ask();
    await ask();
    expect(asked).toHaveLength(1);
    await ask({ fields: { items: [1] } });
    expect(asked).toHaveLength(2);
    await clock.advance(call.keep);
    answer = () => ({ status: "Failure" });
    for (let times = 0; times < 3; times += 1) await expect(ask()).rejects.toThrow(/failure response/);
    expect(asked).toHaveLength(3);
    await clock.advance(againAfterFailure);
    answer = () => ({ status: "Success" });
    expect(await ask()).toEqual({ status: "Success" });
    expect(asked).toHaveLength(4);
  });
});

test("calls for one object share their time: one that has none left is not sent, and no failure", async () => {
  const { clock, asked, ask } = played([config({}, "Ignore")], () => ({ status: "Success" }));
  await ask({ deadline: clock.now() + 4_000 });
  expect(asked[0]?.timeout).toBe(4_000);
  const late = { deadline: clock.now() + 500, fields: { items: [1] } };
  await expect(ask(late)).rejects.toMatchObject({ why: "late", again: 1_000 });
  expect(asked).toHaveLength(1);
  await ask({ fields: { items: [1] } });
});

test.each([
  ["after less than half of its own time is no failure of the extension", 3_000, "late", 2],
  ["after most of its own time is one", 6_000, "unreachable", 1],
])("a call that ends by the deadline %s", async (_, left, why, calls) => {
  const { clock, asked, ask } = played([config()], async () => {
    await clock.advance(asked.at(-1)?.timeout ?? 0);
    throw new CausewayError("RUNTIME_EXTENSION_FAILED", "no response");
  });
  await expect(ask({ deadline: clock.now() + left })).rejects.toMatchObject({ why });
  await expect(ask()).rejects.toMatchObject({ why: "unreachable" });
  expect(asked).toHaveLength(calls);
});

test("a handler that cannot be reached says until when it is not called", async () => {
  const { clock, asked, ask } = played([config()], () => {
    throw new CausewayError("RUNTIME_EXTENSION_FAILED", "no route");
  });
  const until = new Date(clock.now() + firstPause).toISOString();
  for (const items of [[1], [2], [3]]) {
    const error: unknown = await ask({ fields: { items } }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "RUNTIME_EXTENSION_FAILED", why: "unreachable", again: firstPause });
    expect((error as Error).message).toContain(`no route; the extension is called again at ${until}`);
  }
  expect(asked).toHaveLength(1);
});

test("kept responses have a bound of characters: the oldest go first", () => {
  const kept = new KeptResponses();
  const response = { text: "x".repeat(1024 * 1024) };
  for (let at = 0; at < 20; at += 1) kept.keep(`${at}`, { response }, 10);
  const found = Array.from({ length: 20 }, (_, at) => kept.find(`${at}`, 0) !== undefined);
  expect(found.filter(Boolean)).toHaveLength(15);
  expect(found.slice(0, 5)).toEqual([false, false, false, false, false]);
  expect(kept.find("19", 10)).toBeUndefined();
});
