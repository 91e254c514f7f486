/** Services of webhooks and aggregated APIs: which are called, and which of them the hosted API server reaches. */
import { CausewayError, VirtualClock } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { calledServices } from "./service-users.ts";
import { unreachedServices } from "./services.ts";

const signal = new AbortController().signal;
const service = (name: string, port?: number) => ({
  namespace: "policy",
  name,
  ...(port === undefined ? {} : { port }),
});
const configuration = (name: string, ...webhooks: readonly object[]) => ({ metadata: { name }, webhooks });
const apiService = (name: string, of?: object) => ({
  metadata: { name },
  spec: of === undefined ? {} : { service: of },
});

describe("Services that an API server calls", () => {
  const none = { mutating: [], validating: [], apiServices: [] };
  const hook = (more: object) => ({ name: "a.example.org", clientConfig: { service: service("hook") }, ...more });
  test.for<[string, Partial<Parameters<typeof calledServices>[0]>, string[]]>([
    ["none without webhooks", {}, []],
    [
      "a webhook that fails closed",
      { validating: [configuration("v", hook({ failurePolicy: "Fail" }))] },
      ["policy/hook:443 webhook a.example.org of ValidatingWebhookConfiguration v"],
    ],
    [
      "a webhook without a policy, which is Fail",
      { mutating: [configuration("m", hook({}))] },
      ["policy/hook:443 webhook a.example.org of MutatingWebhookConfiguration m"],
    ],
    ["no webhook that is ignored", { mutating: [configuration("m", hook({ failurePolicy: "Ignore" }))] }, []],
    ["no webhook at a URL", { mutating: [configuration("m", hook({ clientConfig: { url: "https://x" } }))] }, []],
    [
      "an aggregated API, at its own port",
      { apiServices: [apiService("v1.", undefined), apiService("v1beta1.metrics.k8s.io", service("metrics", 8443))] },
      ["policy/metrics:8443 APIService v1beta1.metrics.k8s.io"],
    ],
    [
      "one Service once, with all that use it",
      { mutating: [configuration("m", hook({}))], apiServices: [apiService("v1.x", service("hook"))] },
      ["policy/hook:443 webhook a.example.org of MutatingWebhookConfiguration m, APIService v1.x"],
    ],
    ["nothing of what has no shape", { mutating: [{ webhooks: "x" }, {}], apiServices: [{ spec: 1 }] }, []],
  ])("are %s", ([, given, expected]) => {
    const found = calledServices({ ...none, ...given });
    expect(found.map(({ namespace, name, port, users }) => `${namespace}/${name}:${port} ${users.join(", ")}`)).toEqual(
      expected,
    );
  });
});

describe("Services that are probed by both API servers", () => {
  class HastyClock extends VirtualClock {
    override async sleep(): Promise<void> {}
  }
  const error = (httpStatus: number) =>
    new CausewayError("KUBERNETES_X", `HTTP ${httpStatus}`, { details: { httpStatus } });
  const services = ["answers", "refuses", "cut", "broken"];

  /** An API server whose Services respond to the proxied request as named; without one, with success. */
  function apiServer(failing: Readonly<Record<string, number>>) {
    const probed: string[] = [];
    const request = async (_method: string, path: string) => {
      const [, name] = /services\/https%3A([a-z]+)%3A443\/proxy\/$/.exec(path) ?? [];
      if (name !== undefined) {
        probed.push(name);
        if (failing[name] !== undefined) throw error(failing[name]);
        return "ok";
      }
      throw new Error(`no response to ${path}`);
    };
    const list = async ({ plural }: { readonly plural: string }) => ({
      items: plural === "apiservices" ? services.map((one) => apiService(`v1.${one}`, service(one))) : [],
    });
    return { client: { request, list } as unknown as KubernetesClient, probed };
  }

  test("count as reached by any response, and as unreachable where the masters do not reach them either", async () => {
    const source = apiServer({ refuses: 404, broken: 503 });
    const hosted = apiServer({ refuses: 404, broken: 503, cut: 503 });
    const checked = new Set<string>();
    const probe = { source: source.client, hosted: hosted.client, clock: new HastyClock(), checked };
    const found = await unreachedServices(probe, signal);
    expect(found.map(({ name, users, isUnreachable }) => [name, ...users, isUnreachable])).toEqual([
      ["cut", "APIService v1.cut", false],
      ["broken", "APIService v1.broken", true],
    ]);
    // A tunnel may be connecting: three attempts where the masters show that it is possible, else one.
    expect(hosted.probed.filter((name) => name === "cut")).toHaveLength(3);
    expect(hosted.probed.filter((name) => name === "broken")).toHaveLength(1);
    // Another read reports again what it refuses, and probes nothing that is settled.
    expect((await unreachedServices(probe, signal)).map(({ name }) => name)).toEqual(["cut"]);
    expect(hosted.probed.filter((name) => name !== "cut").toSorted()).toEqual(["answers", "broken", "refuses"]);
  });

  test("count as reached by an error of their own, and not by an error of the gateway", async () => {
    const source = apiServer({});
    const hosted = apiServer({ answers: 504, refuses: 500, cut: 502 });
    const probe = { source: source.client, hosted: hosted.client, clock: new HastyClock(), checked: new Set<string>() };
    expect((await unreachedServices(probe, signal)).map(({ name }) => name)).toEqual(["answers", "cut"]);
  });
});
