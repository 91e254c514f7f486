import { expect, test } from "vitest";
import type { ExtensionConfig } from "@causeway/api";
import { CausewayError, VirtualClock } from "@causeway/foundation";
import type { Informer, KubernetesClient } from "@causeway/kubernetes";
import { hooksApi } from "../runtime/hooks.ts";
import { NamedCalls } from "../runtime/named-calls.ts";
import { clusterClass } from "../testing/class-manifests.ts";
import { discoverVariables } from "./discover.ts";
import { judgeVariables } from "./status-variables.ts";

const handler = "discover.ext";
const config = {
  apiVersion: "runtime.cluster.x-k8s.io/v1beta2",
  kind: "ExtensionConfig",
  metadata: { name: "ext", uid: "u", generation: 1 },
  spec: { clientConfig: { url: "https://ext.example.com" } },
  status: {
    handlers: [
      { name: handler, requestHook: { apiVersion: hooksApi, hook: "DiscoverVariables" }, failurePolicy: "Ignore" },
    ],
  },
} as ExtensionConfig;
const variables = [{ name: "a", required: true, schema: { openAPIV3Schema: { type: "string" } } }];

/** Calls of an extension that responds or not, in a process that knows nothing from before. */
function played(clock: VirtualClock, isReachable: () => boolean): NamedCalls {
  return new NamedCalls({
    configs: { list: () => [config] } as unknown as Informer<ExtensionConfig>,
    kubernetes: {} as KubernetesClient,
    extensions: {
      call: () =>
        isReachable()
          ? Promise.resolve({ status: "Success", variables })
          : Promise.reject(new CausewayError("RUNTIME_EXTENSION_FAILED", "no route")),
    },
    clock,
  });
}

test("variables of an extension that may be ignored remain in the status while it is unreachable", async () => {
  const clock = new VirtualClock();
  const signal = new AbortController().signal;
  let isReachable = true;
  let calls = played(clock, () => isReachable);
  let found = clusterClass("class", {
    patches: [
      { name: "p", external: { generatePatchesExtension: "generate.ext", discoverVariablesExtension: handler } },
    ],
    variables: [],
  });
  const listed = async () => {
    const discovered = await discoverVariables({ calls, clock }, found, signal);
    const verdict = judgeVariables({ clusterClass: found, templates: [], discovered });
    found = { ...found, status: { ...found.status, variables: verdict.variables ?? [] } };
    return { names: verdict.variables?.map(({ name }) => name), again: verdict.again };
  };
  expect(await listed()).toEqual({ names: ["a"], again: 600_000 });
  isReachable = false;
  await clock.advance(600_000);
  expect(await listed()).toMatchObject({ names: ["a"] });
  // After a restart only the status knows them.
  calls = played(clock, () => isReachable);
  expect(await listed()).toEqual({ names: ["a"], again: 10_000 });
  await clock.advance(10_000);
  isReachable = true;
  expect(await listed()).toEqual({ names: ["a"], again: 600_000 });
});
