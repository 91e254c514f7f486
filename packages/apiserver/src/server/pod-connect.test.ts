import { createClient, loadKubeconfig, Node, Pod, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Admission, Attempt } from "../contract/admission.ts";
import type { Call } from "../contract/call.ts";
import { startApiServer } from "../start.ts";
import { admitConnect } from "./connect-admission.ts";

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

test("connections pass admission with their options, and logs do not", async () => {
  const group = "admissionregistration.k8s.io";
  const path = `/apis/${group}/v1/validatingadmissionpolicies`;
  const shell =
    "request.operation == 'CONNECT' && object.kind == 'PodExecOptions' && object.command == ['sh', '-c'] && object.tty && !has(object.stdin) && oldObject == null";
  const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["pods/*"], operations: ["CONNECT"] };
  const spec = {
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: `!(${shell})`, message: "no shells" }],
  };
  const policy = { apiVersion: `${group}/v1`, kind: "ValidatingAdmissionPolicy", metadata: { name: "shells" }, spec };
  await client.request("POST", path, { body: policy });
  const binding = {
    apiVersion: `${group}/v1`,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "shells" },
    spec: { policyName: "shells", validationActions: ["Deny"] },
  };
  await client.request("POST", `/apis/${group}/v1/validatingadmissionpolicybindings`, { body: binding });
  expect(await refusal("POST", "silent/exec?command=sh&command=-c&tty=true&stdin=false")).toMatch(/no shells/);
  expect(await refusal("POST", "silent/exec?command=ls&tty=true")).toMatch(/so exec is not possible/);
  expect(await refusal("GET", "silent/attach?tty=true")).toMatch(/so attach is not possible/);
  expect(await log("speaking/log?tailLines=1")).toBe("three\n");
  await client.request("DELETE", `${path}/shells`);
});

test("admission may change what a connection asks for", async () => {
  const asked = new URLSearchParams("command=sh&stdin=1&container=web&ports=80,443");
  const seen: Attempt[] = [];
  const admission: Admission = {
    concerns: (_call, operation, phase) => operation === "CONNECT" && phase === "mutate",
    mutate(attempt) {
      seen.push(attempt);
      return Promise.resolve({ ...attempt.object, command: ["ls", "-l"], tty: true } as unknown as KubeObject);
    },
    validate: () => Promise.resolve(),
  };
  const connection = (subresource: string) =>
    ({
      subresource,
      dryRun: false,
      cluster: { admission, thread: { run: <T>(_holder: object, work: () => T) => work() } },
    }) as unknown as Call;
  const changed = await admitConnect(connection("exec"), asked);
  expect(changed.toString()).toBe("stdin=true&tty=true&container=web&command=ls&command=-l");
  await admitConnect(connection("portforward"), asked);
  expect(seen.map(({ object, options }) => [object, options])).toEqual([
    [{ kind: "PodExecOptions", apiVersion: "v1", stdin: true, container: "web", command: ["sh"] }, null],
    [{ kind: "PodPortForwardOptions", apiVersion: "v1", ports: [80, 443] }, null],
  ]);
  expect(await admitConnect(connection("log"), asked)).toBe(asked);
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
