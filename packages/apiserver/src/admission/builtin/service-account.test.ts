import { describe, expect, test } from "vitest";
import { messageOf, type VirtualClock } from "@causeway/foundation";
import type { Draft, WriteContext } from "../../contract/resource.ts";
import { at, records, type Json } from "../../json/json.ts";
import { clusterWith } from "../../testing/objects.ts";
import { admitAccount } from "./service-account.ts";

const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";

async function contextWith(...accounts: readonly Json[]): Promise<WriteContext> {
  const stored = accounts.map(({ name, annotations, ...more }) => ({
    metadata: { name, namespace: "ns", ...(annotations ? { annotations } : {}) },
    ...more,
  }));
  return { cluster: await clusterWith({ "/serviceaccounts": stored }) } as unknown as WriteContext;
}

/** The spec that is made of one, or why it is refused. */
async function made(spec: Json, context: WriteContext, annotations?: Json): Promise<Json | string> {
  const pod = {
    kind: "Pod",
    metadata: { name: "p", namespace: "ns", ...(annotations && { annotations }) },
    spec: structuredClone(spec),
  };
  try {
    await admitAccount(pod as unknown as Draft, context);
    return pod.spec;
  } catch (error) {
    return messageOf(error).replace('pods "p" is forbidden: ', "");
  }
}

const quiet = (more: Json = {}): Json => ({ name: "default", automountServiceAccountToken: false, ...more });
const named = (name = "default"): Json => ({ serviceAccountName: name, serviceAccount: name });

describe("the service account of a pod", () => {
  test.each<[string, Json, Json]>([
    ["is the namespace's default", {}, named()],
    ["is the one that the pod names", { serviceAccountName: "robot", serviceAccount: "x" }, named("robot")],
  ])("%s", async (_what, spec, expected) => {
    const context = await contextWith(quiet(), quiet({ name: "robot" }));
    expect(await made(spec, context)).toEqual(expected);
  });

  test("must be there", async () => {
    const why = 'error looking up service account ns/x: serviceaccount "x" not found';
    expect(await made({ serviceAccountName: "x" }, await contextWith(quiet()))).toBe(why);
  });

  test("is waited for a second where it is the default", async () => {
    const context = await contextWith();
    const clock = context.cluster.clock as VirtualClock;
    const start = clock.now();
    let result: unknown;
    void made({}, context).then((value) => (result = value));
    while (result === undefined) {
      await new Promise((resolve) => setImmediate(resolve));
      if (result === undefined) await clock.advance(50);
    }
    expect(result).toBe('error looking up service account ns/default: serviceaccount "default" not found');
    expect(clock.now() - start).toBe(900);
  });

  test.each<[string, Json, Json, unknown]>([
    [
      "gives its image pull secrets",
      {},
      { imagePullSecrets: [{ name: "s", more: 1 }, { name: "t" }] },
      [{ name: "s" }, { name: "t" }],
    ],
    [
      "leaves the pod its own",
      { imagePullSecrets: [{ name: "own" }] },
      { imagePullSecrets: [{ name: "s" }] },
      [{ name: "own" }],
    ],
    [
      "gives an empty list its secrets",
      { imagePullSecrets: [] },
      { imagePullSecrets: [{ name: "s" }] },
      [{ name: "s" }],
    ],
    ["without any gives none", {}, { imagePullSecrets: [] }, undefined],
  ])("%s", async (_what, spec, account, expected) => {
    const result = await made(spec, await contextWith(quiet(account)));
    expect(at(result, "imagePullSecrets")).toEqual(expected);
  });
});

describe("the token of a pod's service account", () => {
  const mounts = (spec: unknown, kind = "containers"): unknown[] =>
    records(at(spec, kind)).map((c) => records(c["volumeMounts"]).map((m) => m["mountPath"]));
  test("is mounted in all containers, from a volume of its own", async () => {
    const spec = {
      containers: [{ name: "a" }, { name: "b", volumeMounts: [{ name: "v", mountPath: "/x" }] }],
      initContainers: [{ name: "i" }],
    };
    const result = await made(spec, await contextWith({ name: "default" }));
    expect(mounts(result)).toEqual([[MOUNT_PATH], ["/x", MOUNT_PATH]]);
    expect(mounts(result, "initContainers")).toEqual([[MOUNT_PATH]]);
    const [volume] = records(at(result, "volumes"));
    expect(volume).toEqual({
      name: expect.stringMatching(/^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/) as unknown,
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
          { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
          {
            downwardAPI: {
              items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
            },
          },
        ],
        defaultMode: 0o644,
      },
    });
    const [first] = records(at(result, "containers"));
    expect(first?.["volumeMounts"]).toEqual([{ name: volume?.["name"], readOnly: true, mountPath: MOUNT_PATH }]);
  });

  test("is not mounted twice, and its volume comes after the pod's", async () => {
    const own = { name: "own", mountPath: MOUNT_PATH };
    const spec = { volumes: [{ name: "v" }], containers: [{ name: "a", volumeMounts: [own] }] };
    const context = await contextWith({ name: "default" });
    expect(await made(spec, context)).toEqual({ ...spec, ...named() });
    const result = await made({ ...spec, containers: [...spec.containers, { name: "b" }] }, context);
    expect(mounts(result)).toEqual([[MOUNT_PATH], [MOUNT_PATH]]);
    expect(records(at(result, "volumes")).map((v) => v["name"])).toEqual([
      "v",
      expect.stringMatching(/^kube-api-access-/),
    ]);
  });

  test("is mounted from a volume that is there", async () => {
    const spec = { volumes: [{ name: "v" }, { name: "kube-api-access-x" }], containers: [{ name: "a" }] };
    const result = await made(spec, await contextWith({ name: "default" }));
    expect(at(result, "volumes")).toEqual(spec.volumes);
    const [container] = records(at(result, "containers"));
    expect(records(container?.["volumeMounts"]).map((m) => m["name"])).toEqual(["kube-api-access-x"]);
  });

  test.each([
    [undefined, undefined, true],
    [undefined, false, false],
    [false, true, false],
    [true, false, true],
  ])("is mounted as the pod (%j) or else the account (%j) says", async (ofPod, ofAccount, expected) => {
    const account = {
      name: "default",
      ...(ofAccount === undefined ? {} : { automountServiceAccountToken: ofAccount }),
    };
    const spec = {
      containers: [{ name: "a" }],
      ...(ofPod === undefined ? {} : { automountServiceAccountToken: ofPod }),
    };
    expect(mounts(await made(spec, await contextWith(account)))).toEqual([expected ? [MOUNT_PATH] : []]);
  });
});

describe("a mirror pod", () => {
  const mirror = { "kubernetes.io/config.mirror": "x" };
  test.each<[string, Json, unknown]>([
    ["has no account", { containers: [{ name: "a" }] }, { containers: [{ name: "a" }] }],
    ["may not name one", { serviceAccountName: "a" }, "a mirror pod may not reference service accounts"],
    [
      "may have no secret as a volume",
      { volumes: [{ secret: { secretName: "s" } }] },
      "a mirror pod may not reference secrets",
    ],
    ["may have no secret of images", { imagePullSecrets: [{ name: "s" }] }, "a mirror pod may not reference secrets"],
    [
      "may have no secret in its environment",
      { containers: [{ env: [{ valueFrom: { secretKeyRef: { name: "s" } } }] }] },
      "a mirror pod may not reference secrets",
    ],
    [
      "may have no token",
      { volumes: [{ projected: { sources: [{ configMap: {} }, { serviceAccountToken: {} }] } }] },
      "a mirror pod may not use ServiceAccountToken volume projections",
    ],
    [
      "may have other projections",
      { volumes: [{ projected: { sources: [{ configMap: {} }] } }] },
      { volumes: [{ projected: { sources: [{ configMap: {} }] } }] },
    ],
  ])("%s", async (_what, spec, expected) => {
    expect(await made(spec, await contextWith(), mirror)).toEqual(expected);
  });
});

describe("an account that lets pods have only its own secrets", () => {
  const not = (where: string, name = "s"): string =>
    `${where} secret.secretName="${name}" is not allowed because service account default does not reference that secret`;
  const account = (enforce: string): Json =>
    quiet({
      annotations: { "kubernetes.io/enforce-mountable-secrets": enforce },
      secrets: [{ name: "mine" }],
      imagePullSecrets: [{ name: "image" }],
    });
  const volume = (secretName: string): Json => ({ volumes: [{ name: "v", secret: { secretName } }] });
  const env = (name: string): Json => ({
    name: "c",
    env: [
      { name: "E", value: "x" },
      { name: "F", valueFrom: { secretKeyRef: { name } } },
    ],
  });
  const from = (name: string): Json => ({
    name: "c",
    envFrom: [{ configMapRef: { name: "x" } }, { secretRef: { name } }],
  });
  test.each<[string, Json, string | undefined]>([
    ["takes its own as a volume", volume("mine"), undefined],
    ["refuses another as a volume", volume("s"), not("volume with")],
    ["takes a volume without a secret", { volumes: [{ name: "v", emptyDir: {} }] }, undefined],
    ["takes its own in the environment", { containers: [env("mine"), from("mine")] }, undefined],
    ["refuses another in the environment", { containers: [env("s")] }, not("container c with envVar F referencing")],
    [
      "refuses all of another in the environment",
      { containers: [from("s")] },
      not("container c with envFrom referencing"),
    ],
    [
      "refuses another for an init container",
      { initContainers: [env("s")] },
      not("init container c with envVar F referencing"),
    ],
    ["takes its own for images", { imagePullSecrets: [{ name: "image" }] }, undefined],
    [
      "refuses another for images",
      { imagePullSecrets: [{ name: "image" }, { name: "s" }] },
      'imagePullSecrets[1].name="s" is not allowed because service account default does not reference that imagePullSecret',
    ],
  ])("%s", async (_what, spec, expected) => {
    const result = await made(spec, await contextWith(account("true")));
    expect(typeof result === "string" ? result : undefined).toBe(expected);
  });

  test.each(["1", "t", "T", "true", "TRUE", "True"])("says so by %s", async (value) => {
    expect(await made(volume("s"), await contextWith(account(value)))).toBe(not("volume with"));
  });

  test.each(["", "0", "false", "yes", "tr", "xtrue"])("does not say so by %j", async (value) => {
    expect(typeof (await made(volume("s"), await contextWith(account(value))))).toBe("object");
  });
});
