import { createClient, loadKubeconfig, Node, Pod, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApiServer } from "../start.ts";

const logs = "simulated.causeway.dev/logs";
let server: Awaited<ReturnType<typeof startApiServer>>;
let client: KubernetesClient;
const pod = (
  name: string,
  nodeName: string,
  fields: { containers?: string[]; annotations?: Record<string, string> } = {},
) =>
  client.create(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name, ...(fields.annotations ? { annotations: fields.annotations } : {}) },
    spec: {
      ...(nodeName === "" ? {} : { nodeName }),
      automountServiceAccountToken: false,
      containers: (fields.containers ?? ["web"]).map((each) => ({ name: each, image: "web:1" })),
    },
  });
const call = (method: string, path: string) => client.request(method, `/api/v1/namespaces/default/pods/${path}`);
const refusal = (method: string, path: string) =>
  call(method, path).then(
    () => "done",
    (error: unknown) => (error as Error).message,
  );
/** The answer as text: a log is not JSON. */
async function log(path: string): Promise<string> {
  const text = await call("GET", path).catch((error: unknown) => (error as Error).message);
  return String(text);
}

beforeAll(async () => {
  server = await startApiServer();
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  await client.create(Node, {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "played", labels: { "simulated.causeway.dev/node": "true" } },
    spec: {},
  });
  await client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name: "real" }, spec: {} });
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace: "default", name: "default" } };
  await client.request("POST", "/api/v1/namespaces/default/serviceaccounts", { body: account }).catch(() => undefined);
  await pod("silent", "played");
  await pod("speaking", "played", { annotations: { [logs]: "one\ntwo\nthree" } });
  await pod("several", "played", { containers: ["web", "db"] });
  await pod("waiting", "");
  await pod("far", "real");
});
afterAll(async () => {
  await client.close();
  await server.close();
});

describe("pods on simulated nodes", () => {
  test("have the log that their annotation declares", async () => {
    expect(await log("speaking/log")).toContain("one\ntwo\nthree\n");
    expect(await log("speaking/log?tailLines=1")).toBe("three\n");
    expect(await log("speaking/log?limitBytes=5")).toBe("one\nt");
  });

  const rows: [string, string, string, RegExp][] = [
    [
      "say that they have no log",
      "GET",
      "silent/log",
      /node played is simulated: container web of pod default\/silent runs no program and writes no log; set annotation simulated\.causeway\.dev\/logs/,
    ],
    [
      "run no program for exec",
      "POST",
      "silent/exec?command=ls",
      /node played is simulated: container web of pod default\/silent runs no program, so exec is not possible/,
    ],
    ["run no program for attach", "GET", "silent/attach", /so attach is not possible/],
    [
      "listen on no port",
      "POST",
      "silent/portforward",
      /node played is simulated: pod default\/silent listens on no port, so portforward is not possible/,
    ],
    [
      "ask for the container",
      "GET",
      "several/log",
      /a container name must be specified for pod several, choose one of: \[web db\]/,
    ],
    ["know their containers", "GET", "silent/log?container=db", /container db is not valid for pod silent/],
    ["that have no node refuse exec", "POST", "waiting/exec?command=ls", /pod waiting does not have a host assigned/],
    ["that do not exist are not found", "GET", "missing/log", /pods "missing" not found/],
    ["take no other verb", "DELETE", "silent/log", /not allow this method/],
  ];
  test.each(rows)("%s", async (_title, method, path, expected) => {
    expect(await refusal(method, path)).toMatch(expected);
  });
});

test("pods on other nodes cannot be reached", async () => {
  expect(await refusal("GET", "far/log")).toMatch(/this server does not connect to kubelets/);
});

test("discovery lists the subresources with the kinds of kube-apiserver", async () => {
  const { resources } = (await client.request("GET", "/api/v1")) as {
    resources: { name: string; kind: string; verbs: string[] }[];
  };
  const found = resources.filter(({ name }) => /^pods\/(log|exec|attach|portforward|proxy)$/.test(name));
  expect(
    found.map(({ name, kind, verbs }) => `${name} ${kind} ${verbs.join()}`).toSorted((a, b) => a.localeCompare(b)),
  ).toEqual([
    "pods/attach PodAttachOptions create,get",
    "pods/exec PodExecOptions create,get",
    "pods/log Pod get",
    "pods/portforward PodPortForwardOptions create,get",
    "pods/proxy PodProxyOptions create,delete,get,patch,update",
  ]);
});
