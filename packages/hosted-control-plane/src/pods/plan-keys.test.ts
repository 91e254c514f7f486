import type { KubeObject, Namespace, Secret } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { stamped } from "./live.ts";
import { credentialsOf, issueSteps, ownEtcdCredentials, pairOf } from "./plan-credentials.ts";
import { copyName, keyProblem, keySteps } from "./plan-keys.ts";
import { applySteps, initializedNamespace, namespaceSteps } from "./plan-objects.ts";
import type { Credentials, Entry } from "./steps.ts";
import {
  appliedAnnotation,
  idAnnotation,
  initializedAnnotation,
  inputsAnnotation,
  managedBy,
  managedByLabel,
  ownerAnnotation,
  renewAtAnnotation,
  turnAnnotation,
} from "./tenant.ts";
import { now, PlayedCluster } from "./testing/played-cluster.ts";
import { own, poolOf, specOf } from "./testing/spec.ts";

const namespaceName = "hcp-web";
const root = (name: string): Credentials => ({
  name,
  entries: [{ type: "password", file: "password" }],
  inputs: "once",
  once: true,
});
type Content = Record<string, string> | undefined;
const secretOf = (name: string, data: Content, annotations?: Record<string, string>): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, ...(annotations ? { annotations } : {}) },
  ...(data ? { data } : {}),
});
const liveOf = (...secrets: Secret[]) =>
  new Map(secrets.map((each): [string, KubeObject] => [`Secret/${each.metadata.name}`, each]));
/** A key and its copy; undefined: it does not exist. */
const pairLive = (name: string, secret: Content, copy: Content) =>
  liveOf(...(secret ? [secretOf(name, secret)] : []), ...(copy ? [secretOf(copyName(name), copy)] : []));
const turned = (name: string, data: Content, turn?: number) =>
  secretOf(name, data, turn === undefined ? {} : { [turnAnnotation]: String(turn) });

describe("a key that data depends on", () => {
  test.for<[name: string, code: string, why: string]>([
    ["etcd-ca", "PODS_AUTHORITY_LOST", "the members of etcd trust only certificates of its authority"],
    ["encryption", "PODS_ENCRYPTION_KEY_LOST", "without its key the tenant's Secrets cannot be read"],
    ["etcd-root", "PODS_POOL_SECRET_LOST", "without its password no user of the shared etcd can be made"],
    ["another", "PODS_AUTHORITY_LOST", "data depends on it"],
  ])("is never created again where there is data, and the loss says why: %s", ([name, code, why]) => {
    const from = { live: new Map(), namespaceName, hasData: true };
    expect(keySteps(from, [root(name)])).toEqual([]);
    const problem = keyProblem(from, [root(name)]);
    expect(problem).toMatchObject({ code, actor: "operator" });
    const both = `Secrets hcp-web/${name} and ${name}-copy do not exist and are not created again, since ${why}`;
    expect(problem?.message).toContain(both);
    expect(problem?.message).toContain("restore one of them from a backup");
  });

  test("is created as its copy before there is data, and no problem until then", () => {
    const from = { live: new Map(), namespaceName, hasData: false };
    const { name: _name, ...made } = root("encryption");
    const credentials = { ...made, name: "encryption-copy" };
    expect(keySteps(from, [root("encryption")])).toEqual([
      { type: "issue", id: "Secret/encryption-copy", credentials },
    ]);
    expect(keyProblem(from, [root("encryption")])).toBeUndefined();
  });

  test.for([
    ["encryption", "encryption-copy"],
    ["encryption-copy", "encryption"],
  ] as const)("that is lost is made from the other one, with all that the other one has: %s", ([lost, left]) => {
    for (const hasData of [true, false]) {
      const full = secretOf(left, { key: "a" }, { [turnAnnotation]: "3" });
      const copied = { data: { key: "a" }, annotations: { [turnAnnotation]: "3" } };
      const steps = (live: Map<string, KubeObject>) => keySteps({ live, namespaceName, hasData }, [root("encryption")]);
      const step = { type: "copy", id: `Secret/${lost}`, name: lost };
      expect(steps(liveOf(full))).toEqual([{ ...step, ...copied }]);
      expect(steps(liveOf(secretOf(left, undefined)))).toEqual([{ ...step, data: {}, annotations: {} }]);
      expect(keyProblem({ live: liveOf(full), namespaceName, hasData }, [root("encryption")])).toBeUndefined();
    }
  });

  test.for<[title: string, secret: number | undefined, copy: number | undefined, older: string | undefined]>([
    ["neither was changed", undefined, undefined, undefined],
    ["both were changed as often", 2, 2, undefined],
    ["the copy was written, and the process ended", 1, 2, "etcd-ca"],
    ["the first change was written, and the process ended", undefined, 1, "etcd-ca"],
    ["an older copy was put back", 3, 2, "etcd-ca-copy"],
  ])("follows the one that was changed more often: %s", ([, first, second, older]) => {
    const [secret, copy] = [
      turned("etcd-ca", { "ca.crt": "a" }, first),
      turned("etcd-ca-copy", { "ca.crt": "b" }, second),
    ];
    const from = { live: liveOf(secret, copy), namespaceName, hasData: true };
    const [behind, ahead] = older === "etcd-ca" ? [secret, copy] : [copy, secret];
    const step = { type: "follow", id: `Secret/${older}`, secret: behind, from: ahead };
    expect(keySteps(from, [root("etcd-ca")])).toEqual(older === undefined ? [] : [step]);
    // Two that differ, and were changed as often, are reported: which one is right is not known.
    expect(keyProblem(from, [root("etcd-ca")])?.code).toBe(older === undefined ? "PODS_KEY_DIFFERS" : undefined);
  });

  test.for<[title: string, secret: Content, copy: Content, differs: boolean]>([
    ["the same content", { a: "1", b: "2" }, { b: "2", a: "1" }, false],
    ["another value", { a: "1", b: "2" }, { a: "1", b: "3" }, true],
    ["a file more in the Secret", { a: "1", b: "2" }, { a: "1" }, true],
    ["a file more in the copy", { a: "1" }, { a: "1", b: "2" }, true],
  ])("is compared with its copy file by file: %s", ([, secret, copy, differs]) => {
    const from = { live: pairLive("encryption", secret, copy), namespaceName, hasData: false };
    const problem = keyProblem(from, [root("encryption")]);
    expect(problem?.code).toBe(differs ? "PODS_KEY_DIFFERS" : undefined);
    if (!differs) return;
    expect(problem?.actor).toBe("operator");
    expect(problem?.message).toMatch(
      /^Secrets hcp-web\/encryption and encryption-copy have different content.*delete the one that was changed$/,
    );
  });

  test.for<[title: string, used: string | undefined, advice: string]>([
    ["those of the Secret", "A", "the members' certificates are of etcd-ca: delete the other one"],
    ["those of its copy", "B", "the members' certificates are of etcd-ca-copy: delete the other one"],
    ["of a third authority", "C", "delete the one that was changed"],
    ["not there", undefined, "delete the one that was changed"],
  ])("of which two differ says which one the members use, whose certificates are %s", ([, used, advice]) => {
    const live = pairLive("etcd-ca", { "ca.crt": "A" }, { "ca.crt": "B" });
    for (const [id, object] of liveOf(secretOf("etcd", used === undefined ? undefined : { "ca.crt": used })))
      live.set(id, object);
    const messageOf = (given: typeof live, name = "etcd-ca") =>
      keyProblem({ live: given, namespaceName, hasData: true }, [root(name)])?.message;
    expect(messageOf(live)).toMatch(new RegExp(`; ${advice}$`));
    // Two without a certificate differ in a key only: nothing says which one is used.
    const keys = pairLive("etcd-ca", { "ca.key": "A" }, { "ca.key": "B" });
    expect(messageOf(keys)).toMatch(/; delete the one that was changed$/);
    const others = pairLive("encryption", { "ca.crt": "A" }, { "ca.crt": "B" });
    for (const [id, object] of live) if (id === "Secret/etcd") others.set(id, object);
    expect(messageOf(others, "encryption")).toMatch(/; delete the one that was changed$/);
  });

  test("is judged with the others: the first one that is lost or differs is reported", () => {
    const live = pairLive("etcd-ca", { a: "1" }, { a: "1" });
    const all = [root("etcd-ca"), root("encryption")];
    expect(keyProblem({ live, namespaceName, hasData: true }, all)?.code).toBe("PODS_ENCRYPTION_KEY_LOST");
  });
});

describe("the certificates of a program", () => {
  const authority = { certificate: "C", key: "K" };
  const subject = { commonName: "x" };
  const certificate: Entry = { type: "certificate", file: "tls", authority, subject, usages: ["client"] };
  const entries: Entry[] = [
    { type: "text", file: "ca.crt", text: "C" },
    certificate,
    { type: "authority", file: "root", commonName: "x" },
  ];
  const credentials: Credentials = { name: "program", entries, inputs: "now", once: false };
  const files = Object.fromEntries(
    ["ca.crt", "tls.crt", "tls.key", "root.crt", "root.key"].map((file) => [file, "eA=="]),
  );
  const good = { [inputsAnnotation]: "now", [renewAtAnnotation]: String(now + 1) };
  const without = (file: string) => Object.fromEntries(Object.entries(files).filter(([name]) => name !== file));

  test.for<[title: string, annotations: Record<string, string> | undefined, data: Content, isIssued: boolean]>([
    ["not before half their life", good, files, false],
    ["at half their life", { ...good, [renewAtAnnotation]: String(now) }, files, true],
    ["where nothing says when that is", { [inputsAnnotation]: "now" }, files, true],
    ["where they are of something else", { ...good, [inputsAnnotation]: "before" }, files, true],
    ["where nothing says what they are of", undefined, files, true],
    ...Object.keys(files).map((file): [string, typeof good, Content, boolean] => [
      `without ${file}`,
      good,
      without(file),
      true,
    ]),
    ["without any file", good, undefined, true],
  ])("are issued again %s", ([, annotations, data, isIssued]) => {
    const secret = secretOf("program", data, annotations);
    const known = { ...secret, metadata: { ...secret.metadata, resourceVersion: "7" } };
    const step = { type: "issue", id: "Secret/program", credentials };
    expect(issueSteps({ live: liveOf(known) }, [credentials], now)).toEqual(
      isIssued ? [{ ...step, replaces: "7" }] : [],
    );
    expect(issueSteps({ live: liveOf(secret) }, [credentials], now)).toStrictEqual(isIssued ? [step] : []);
    const key = { ...credentials, once: true };
    expect(issueSteps({ live: liveOf(secret) }, [key], now)).toEqual([]);
    expect(issueSteps({ live: new Map() }, [key], now)).toEqual([{ ...step, credentials: key }]);
  });

  const observed = (changes: object = {}) => ({ ...new PlayedCluster().observe(specOf()), ...changes });
  const etcdAuthority = secretOf("etcd-ca", { "ca.crt": "T1dO", "ca.key": "S0VZ" });
  const live = liveOf(etcdAuthority);
  const endpoint = { host: "203.0.113.7", port: 6443 };
  const issuedOf = (all: readonly Credentials[], name: string) =>
    JSON.stringify(all.find((each) => each.name === name));

  test("are of the authority of the own etcd, or of the shared one's, once that is known", () => {
    expect(pairOf(etcdAuthority)).toEqual({ certificate: "OWN", key: "KEY" });
    expect(pairOf(undefined)).toEqual({ certificate: "", key: "" });
    const pool = { ...poolOf(), authority: { certificate: "SHARED", key: "K" } };
    const pooled = specOf({ pods: { datastore: { type: "Pooled" } } });
    const etcdOf = (given: object) =>
      /"file":"etcd-ca.crt","text":"(\w+)"/.exec(
        issuedOf(credentialsOf(observed({ live, ...given }), endpoint), "kube-apiserver") ?? "",
      )?.[1];
    expect([{}, { pool }, { pool, spec: pooled }, { spec: pooled }].map(etcdOf)).toEqual([
      "OWN",
      "OWN",
      "SHARED",
      "OWN",
    ]);
  });

  test("of etcd have the names of all members that there may be, in the domain of the service cluster", () => {
    const names = (settings: object) => {
      const spec = specOf({ pods: own({ datastore: { members: 1 } }) });
      const given = observed({ live, spec, settings: { owner: "management", ...settings } });
      const all = [issuedOf(credentialsOf(given, endpoint), "etcd"), JSON.stringify(ownEtcdCredentials(given))];
      expect(all[0]).toBe(all[1]);
      return all[0];
    };
    const service = `etcd.${observed().namespaceName}.svc`;
    for (const name of [`${service}.cluster.local`, `etcd-0.${service}`, `etcd-2.${service}`])
      expect(names({})).toContain(`"${name}"`);
    expect(names({})).not.toContain("etcd-3.");
    expect(names({ clusterDomain: "example.test" })).toContain(`"${service}.example.test"`);
    expect(names({})).toContain('"text":"OWN"');
  });
});

describe("the namespace of a control plane", () => {
  const settings = { owner: "management" };
  const from = { namespaceName, settings, live: new Map(), id: "team.web", key: "Secret/encryption" };
  const stepsFor = (namespace: Namespace | undefined, more: object = {}) =>
    namespaceSteps({ ...from, namespace, ...more });
  const made = (more: object = {}) => {
    const [step] = stepsFor(undefined, more);
    return step?.type === "apply-namespace" ? (step.object as Namespace) : expect.fail();
  };

  test("says whose it is, and lets no pod have more rights than restricted ones", () => {
    const object = made({ annotations: { more: "yes" } });
    expect(object).toMatchObject({ apiVersion: "v1", kind: "Namespace" });
    expect(object.metadata.name).toBe(namespaceName);
    expect(object.metadata.labels).toEqual({
      [managedByLabel]: managedBy,
      "pod-security.kubernetes.io/enforce": "restricted",
      "pod-security.kubernetes.io/enforce-version": "latest",
    });
    expect(object.metadata.annotations).toEqual({
      [idAnnotation]: "team.web",
      [ownerAnnotation]: "management",
      [appliedAnnotation]: expect.any(String) as string,
      more: "yes",
    });
    expect(stepsFor(object, { annotations: { more: "yes" } })).toEqual([]);
  });

  test("is initialized once its key is there, and says so for ever", () => {
    expect(initializedNamespace(undefined)).toBe(false);
    expect(initializedNamespace(made())).toBe(false);
    const object = made({ live: liveOf(secretOf("encryption", {})) });
    expect(object.metadata.annotations?.[initializedAnnotation]).toBe("true");
    expect(initializedNamespace(object)).toBe(true);
    expect(stepsFor(object)).toEqual([]);
  });

  test("has objects written where they differ, and only those", () => {
    const map = (name: string): KubeObject => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
    const there = new Map([["ConfigMap/there", stamped(map("there"))]]);
    const [step, ...more] = applySteps(there, [map("there"), map("new")]);
    expect(step).toEqual({ type: "apply", id: "ConfigMap/new", object: stamped(map("new")) });
    expect(more).toEqual([]);
  });
});
