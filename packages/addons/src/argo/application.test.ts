import type { AddonSet } from "@causeway/api";
import { describe, expect, test } from "vitest";
import { applicationFor, covers, isAsDeclared, stateOfApplication, type Application } from "./application.ts";
import { clusterSecretFor, otherAtServer } from "./cluster-secret.ts";
import { applicationName, mayUseProject } from "./names.ts";

const set = {
  metadata: { name: "base", namespace: "team" },
  spec: { clusterName: "blue", addons: [], argoCD: { namespace: "argocd" } },
} as unknown as AddonSet;
const addon = { name: "web", wave: 3, application: { repoURL: "https://git.example/apps", path: "web" } };

function made(status?: Application["status"], change: object = {}): { live: Application; wanted: Application } {
  const wanted = applicationFor(set, addon);
  if (!wanted) throw new Error("not made");
  return { wanted, live: { ...wanted, spec: { ...wanted.spec, ...change }, ...(status ? { status } : {}) } };
}

function compared({ spec: { source, destination } }: Application, more: object): Application["status"] {
  return { sync: { status: "Synced", comparedTo: { source, destination } }, health: { status: "Healthy" }, ...more };
}

describe("the Application of an add-on", () => {
  test("names the source, the cluster and what is automated", () => {
    const { wanted } = made();
    expect(wanted).toMatchObject({
      metadata: { namespace: "argocd", labels: { "addons.causeway.dev/set": "base" } },
      spec: {
        project: "default",
        source: { repoURL: "https://git.example/apps", targetRevision: "HEAD", path: "web" },
        destination: { name: "team.blue", namespace: "default" },
        syncPolicy: { automated: { prune: false, selfHeal: true }, retry: { limit: -1 } },
      },
    });
    // Deleting an Application by accident must not delete what is in the cluster.
    expect(wanted.metadata.finalizers).toBeUndefined();
  });

  test("has a chart with values in place of a path", () => {
    const application = { repoURL: "oci://r", chart: "web", targetRevision: "1.2.3", values: "a: 1", releaseName: "w" };
    expect(applicationFor(set, { name: "web", application })?.spec.source).toEqual({
      repoURL: "oci://r",
      chart: "web",
      targetRevision: "1.2.3",
      helm: { releaseName: "w", values: "a: 1" },
    });
  });

  test("has a name of its own that fits a label", () => {
    const of = (namespace: string, name: string, each: string) =>
      applicationName({ metadata: { namespace, name } } as AddonSet, each);
    expect(new Set([of("a", "b-c", "d"), of("a", "b", "c-d"), of("b", "b", "c-d")]).size).toBe(3);
    expect(of("n".repeat(63), "s".repeat(253), "a".repeat(63)).length).toBeLessThanOrEqual(63);
  });

  test.for<[title: string, change: object, same: boolean]>([
    ["nothing", {}, true],
    ["what others add", { revisionHistoryLimit: 3 }, true],
    ["a false that Argo CD leaves out", { syncPolicy: { automated: { selfHeal: true }, retry: retryOf() } }, true],
    ["the destination", { destination: { name: "other", namespace: "default" } }, false],
    ["automation that is off", { syncPolicy: {} }, false],
  ])("is restored after a change of what is declared: %s", ([, change, same]) => {
    const { live, wanted } = made(undefined, change);
    expect(isAsDeclared(live, wanted)).toBe(same);
  });
});

function retryOf() {
  return { limit: -1, backoff: { duration: "5s", factor: 2, maxDuration: "3m" } };
}

describe("the health that Argo CD reports of an Application is read:", () => {
  const conditions = [{ type: "ComparisonError", message: "repository not found" }];
  const running = { phase: "Running", message: "waiting for healthy state" };
  test.for<[title: string, status: (wanted: Application) => Application["status"], state: string, message: RegExp]>([
    ["nothing yet", () => undefined, "Applying", /has not compared/],
    ["synced and healthy", (wanted) => compared(wanted, {}), "Applied", /^$/],
    ["suspended", (wanted) => compared(wanted, { health: { status: "Suspended" } }), "Applied", /^$/],
    [
      "of an older declaration",
      (wanted) => ({ ...compared(wanted, {}), sync: { status: "Synced", comparedTo: { source: {} } } }),
      "Applying",
      /has not compared/,
    ],
    ["an error", (wanted) => compared(wanted, { conditions }), "Failed", /ComparisonError: repository not found/],
    [
      "objects that differ",
      (wanted) => ({ ...compared(wanted, { operationState: running }), sync: outOfSync(wanted) }),
      "Applying",
      /OutOfSync: waiting for healthy state/,
    ],
    [
      "a sync that failed",
      (wanted) => ({ ...compared(wanted, { operationState: { phase: "Failed" } }), sync: outOfSync(wanted) }),
      "Failed",
      /OutOfSync/,
    ],
    [
      "a sync that is tried again",
      (wanted) => ({
        ...compared(wanted, { operationState: { phase: "Running", retryCount: 1, message: "no such kind" } }),
        sync: outOfSync(wanted),
      }),
      "Failed",
      /OutOfSync: no such kind/,
    ],
    [
      "what the repository no longer has, without pruning",
      (wanted) => ({ ...compared(wanted, unpruned("Synced")), sync: outOfSync(wanted) }),
      "Applied",
      /^$/,
    ],
    [
      "the same next to an object that differs",
      (wanted) => ({ ...compared(wanted, unpruned("OutOfSync")), sync: outOfSync(wanted) }),
      "Applying",
      /OutOfSync/,
    ],
    ["an ill add-on", (wanted) => compared(wanted, { health: { status: "Degraded" } }), "Unhealthy", /Degraded/],
  ])("%s", ([, status, state, message]) => {
    const { wanted } = made();
    const { live } = made(status(wanted));
    const found = stateOfApplication(live, wanted);
    expect(found.state).toBe(state);
    expect(found.message).toMatch(message);
  });
});

function unpruned(other: string) {
  const resources = [{ status: other }, { status: "OutOfSync", requiresPruning: true }];
  return { resources, operationState: { phase: "Succeeded" } };
}

function outOfSync({ spec: { source, destination } }: Application) {
  return { status: "OutOfSync", comparedTo: { source, destination } };
}

test("a value that is wanted and missing is not covered", () => {
  expect(covers({}, { a: true })).toBe(false);
  expect(covers([1, 2], [1])).toBe(false);
  expect(covers(undefined, {})).toBe(true);
});

describe("the Secret of a cluster", () => {
  const kubeconfig = (user: string, cluster = "server: https://192.0.2.1:6443") =>
    `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: a, user: b}}],` +
    ` clusters: [{name: a, cluster: {${cluster}}}], users: [{name: b, user: {${user}}}]}`;
  const key = { namespace: "team", name: "blue" };
  const place = { namespace: "argocd", project: "apps" };
  const read = (text: string) => {
    const { data = {}, metadata } = clusterSecretFor(key, place, text);
    const decoded = Object.entries(data).map(([name, value]) => [name, Buffer.from(value, "base64").toString()]);
    return { labels: metadata.labels, ...(Object.fromEntries(decoded) as Record<string, string>) };
  };

  test("has the label, the name, the server and TLS that Argo CD reads", () => {
    const given = `certificate-authority-data: ${Buffer.from("CA").toString("base64")}, server: "https://192.0.2.1:6443"`;
    const secret = read(kubeconfig("token: t", given)) as Record<string, unknown>;
    expect(secret).toMatchObject({
      labels: { "argocd.argoproj.io/secret-type": "cluster" },
      name: "team.blue",
      server: "https://192.0.2.1:6443",
      project: "apps",
    });
    expect(JSON.parse(String(secret["config"]))).toEqual({
      bearerToken: "t",
      tlsClientConfig: { insecure: false, caData: "Q0E=" },
    });
  });

  test.for([
    ["a program for credentials", kubeconfig("exec: {apiVersion: client.authentication.k8s.io/v1, command: get}")],
    ["no YAML", "a: ["],
    ["no credentials", kubeconfig("username: a")],
    ["a certificate without its key", kubeconfig("client-certificate-data: Q0E=")],
    ["the cluster of Argo CD", kubeconfig("token: t", 'server: "https://kubernetes.default.svc"')],
    ["its other spelling", kubeconfig("token: t", 'server: "https://KUBERNETES.default.svc.cluster.local.:443/"')],
  ])("is not made from %s", ([, text = ""]) => {
    expect(() => clusterSecretFor(key, place, text)).toThrow(
      expect.objectContaining({ code: "ADDON_ARGO_CD_KUBECONFIG" }),
    );
  });

  test("is refused where Argo CD knows another cluster at its server", () => {
    const wanted = clusterSecretFor(key, place, kubeconfig("token: t"));
    const of = (name: string, server: string, namespace = "argocd") => {
      const text = kubeconfig("token: x", `server: "${server}"`);
      return clusterSecretFor({ namespace: "other", name }, { ...place, namespace }, text);
    };
    expect(otherAtServer([wanted, of("a", "https://192.0.2.2:6443")], wanted, key)).toBeUndefined();
    expect(otherAtServer([of("a", "https://192.0.2.1:6443", "elsewhere")], wanted, key)).toBeUndefined();
    expect(otherAtServer([wanted, of("a", "https://192.0.2.1:6443/")], wanted, key)?.metadata.labels).toMatchObject({
      "addons.causeway.dev/cluster": "a",
    });
  });
});

test.for<[annotation: string | undefined, project: string, may: boolean]>([
  [undefined, "default", true],
  [undefined, "apps", false],
  ["team=apps, other=theirs", "apps", true],
  ["team=apps, other=theirs", "theirs", false],
  ["team=apps", "default", false],
])("with the annotation %s a namespace may use project %s: %s", ([annotation, project, may]) => {
  const annotations = annotation === undefined ? {} : { "addons.causeway.dev/argo-cd-projects": annotation };
  expect(
    mayUseProject({ apiVersion: "v1", kind: "Namespace", metadata: { name: "argocd", annotations } }, "team", project),
  ).toBe(may);
});
