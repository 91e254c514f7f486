import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import type { CausewayError } from "@causeway/foundation";
import { inClusterConfig } from "./in-cluster.ts";
import { loadKubeconfig, type KubeconfigOptions } from "./kubeconfig.ts";
import { renderKubeconfig } from "./render.ts";

const directory = mkdtempSync(join(tmpdir(), "kubeconfig-"));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(directory, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function failure(options: KubeconfigOptions): CausewayError {
  try {
    loadKubeconfig(options);
  } catch (error) {
    return error as CausewayError;
  }
  throw new Error("nothing was thrown");
}

const base = `
apiVersion: v1
kind: Config
current-context: one
clusters:
- {name: c1, cluster: {server: "https://one:6443", certificate-authority: pki/ca.pem, tls-server-name: api}}
- {name: c2, cluster: {server: "https://two:6443", insecure-skip-tls-verify: true}}
users:
- {name: u1, user: {client-certificate-data: Y2VydA==, client-key-data: a2V5}}
- {name: u2, user: {token: s3cret, tokenFile: ./token}}
- name: u3
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/login
      args: [--cluster, two]
      env: [{name: A, value: b}]
      interactiveMode: Never
      provideClusterInfo: true
contexts:
- {name: one, context: {cluster: c1, user: u1, namespace: team}}
- {name: two, context: {cluster: c2, user: u2}}
- {name: three, context: {cluster: c2, user: u3}}
- {name: anonymous, context: {cluster: c2}}
- {name: broken, context: {cluster: nowhere, user: u1}}
`;

describe("a kubeconfig", () => {
  const path = file("config", base);
  file("pki/ca.pem", "the ca");

  test("gives what its current context names, with paths relative to the file", () => {
    expect(loadKubeconfig({ path })).toEqual({
      server: "https://one:6443",
      ca: "the ca",
      tlsServerName: "api",
      certificate: "cert",
      key: "key",
      namespace: "team",
    });
  });

  test("gives another context by name", () => {
    expect(loadKubeconfig({ path, context: "two" })).toEqual({
      server: "https://two:6443",
      insecureSkipTlsVerify: true,
      token: "s3cret",
      tokenFile: join(directory, "token"),
    });
    const text = readFileSync(path, "utf8");
    expect(loadKubeconfig({ path: join(directory, "not-there"), text, context: "two" })).toEqual(
      loadKubeconfig({ path, context: "two" }),
    );
    expect(loadKubeconfig({ path, context: "anonymous" })).toEqual({
      server: "https://two:6443",
      insecureSkipTlsVerify: true,
    });
    expect(loadKubeconfig({ path, context: "three" }).exec).toEqual({
      apiVersion: "client.authentication.k8s.io/v1",
      command: join(directory, "bin/login"),
      args: ["--cluster", "two"],
      env: { A: "b" },
      interactiveMode: "Never",
      provideClusterInfo: true,
    });
  });

  test("is merged from the files of KUBECONFIG, of which the first to name something wins", () => {
    const first = file("first", `current-context: two\ncontexts:\n- {name: two, context: {cluster: c1, user: u1}}\n`);
    const env = { KUBECONFIG: `${first}:${join(directory, "absent")}:${path}` };
    expect(loadKubeconfig({ env })).toMatchObject({ server: "https://one:6443", ca: "the ca", key: "key" });
  });

  test("is ~/.kube/config if nothing else is said", () => {
    file("home/.kube/config", base.replace("pki/ca.pem", "../../pki/ca.pem"));
    expect(loadKubeconfig({ env: { HOME: join(directory, "home") } }).namespace).toBe("team");
  });

  test.each<[string, KubeconfigOptions, string, RegExp]>([
    [
      "a file that is not there",
      { path: "/no/such/file" },
      "KUBECONFIG_NOT_FOUND",
      /no kubeconfig at \/no\/such\/file/,
    ],
    ["an unknown context", { path, context: "x" }, "KUBECONFIG_CONTEXT_UNKNOWN", /has no context x/],
    ["no current context", { text: "contexts: []" }, "KUBECONFIG_CONTEXT_UNKNOWN", /has no current-context/],
    ["an undefined cluster", { path, context: "broken" }, "KUBECONFIG_INVALID", /cluster nowhere/],
    ["something else", { text: "kind: Pod" }, "KUBECONFIG_INVALID", /not of kind Config/],
    ["no YAML", { text: "token: s3cret\n\t- x: [" }, "KUBECONFIG_INVALID", /is not YAML/],
    ["a list", { text: "[]" }, "KUBECONFIG_INVALID", /not a mapping/],
    ["a plugin, from a Secret", { path, context: "three", selfContained: true }, "KUBECONFIG_INVALID", /exec/],
    ["a file, from a Secret", { path, context: "one", selfContained: true }, "KUBECONFIG_INVALID", /authority/],
  ])("with %s is refused in plain words", (_, options, code, message) => {
    const error = failure(options);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) as unknown });
    expect(error.hint).toBeTruthy();
    expect(JSON.stringify([error.message, error.hint, error.details, String(error.cause)])).not.toContain("s3cret");
  });

  test("reads back as it was rendered", () => {
    const text = fc.string({ minLength: 1, unit: "grapheme-ascii" });
    fc.assert(
      fc.property(
        fc.record({
          server: fc.webUrl(),
          tlsServerName: text,
          ca: text,
          certificate: text,
          key: text,
          token: text,
          namespace: text,
        }),
        fc.record({ clusterName: text, userName: text }),
        (config, names) => {
          expect(loadKubeconfig({ text: renderKubeconfig({ ...config, ...names }) })).toEqual(config);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("a pod's own cluster", () => {
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };

  test("is reached by the mounted service account", () => {
    file("sa/token", "t");
    file("sa/ca.crt", "ca");
    file("sa/namespace", "team\n");
    const mounted = join(directory, "sa");
    expect(inClusterConfig({ env, directory: mounted })).toEqual({
      server: "https://[fd00::1]:443",
      ca: "ca",
      namespace: "team",
      tokenFile: join(mounted, "token"),
    });
  });

  test("is not there outside a pod", () => {
    expect(() => inClusterConfig({ env: {} })).toThrow(/no service account of a pod/);
    expect(() => inClusterConfig({ env, directory: "/nowhere" })).toThrow(/token cannot be read/);
  });
});
