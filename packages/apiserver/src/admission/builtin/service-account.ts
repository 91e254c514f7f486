import { randomBytes } from "node:crypto";
import type { KubeObject } from "@causeway/kubernetes";
import { array, at, fields, record, records, text, type Json } from "../../json/json.ts";
import type { Draft, WriteContext } from "../../contract/resource.ts";
import { PODS, refusal } from "./refusal.ts";

const DEFAULT = "default";
const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const VOLUME = "kube-api-access-";
/** How long the account that every new namespace gets is waited for. */
const ATTEMPTS = 10;
const PAUSE = 100;
const ENFORCE = "kubernetes.io/enforce-mountable-secrets";
const MIRROR = "kubernetes.io/config.mirror";
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/**
 * Gives a pod its account, the account's token to mount and its image pull secrets. Throws 403.
 * Source: kubernetes.io "Managing Service Accounts", ServiceAccount admission controller.
 */
export async function admitAccount(pod: Draft, context: WriteContext): Promise<void> {
  const spec = record(pod["spec"]);
  if (pod.metadata.annotations?.[MIRROR] !== undefined) return checkMirror(pod, spec);
  const name = text(spec["serviceAccountName"]) || DEFAULT;
  const account = await accountOf(pod, name, context);
  spec["serviceAccountName"] = name;
  spec["serviceAccount"] = name;
  const automount = spec["automountServiceAccountToken"] ?? at(account, "automountServiceAccountToken");
  if (automount !== false) mountToken(spec);
  const pullSecrets = records(fields(account)["imagePullSecrets"]);
  if (array(spec["imagePullSecrets"]).length === 0 && pullSecrets.length > 0) {
    spec["imagePullSecrets"] = pullSecrets.map((s) => ({ name: s["name"] }));
  }
  if (/^(1|t|T|true|TRUE|True)$/.test(account.metadata.annotations?.[ENFORCE] ?? "")) checkSecrets(pod, spec, account);
}

async function accountOf(pod: Draft, name: string, { cluster }: WriteContext): Promise<KubeObject> {
  const namespace = pod.metadata.namespace ?? "";
  const key = { cluster: cluster.name, resource: "/serviceaccounts", namespace, name };
  for (let attempt = 1; ; attempt += 1) {
    const found = cluster.store.get(key)?.object;
    if (found) return found;
    if (name !== DEFAULT || attempt === ATTEMPTS) break;
    await cluster.clock.sleep(PAUSE);
  }
  const why = `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`;
  throw refusal(PODS, pod, why);
}

function mountToken(spec: Json): void {
  const volumes = [...records(spec["volumes"])];
  const known = volumes.map((v) => text(v["name"])).find((name) => name.startsWith(VOLUME));
  const name = known ?? `${VOLUME}${suffix()}`;
  const without = [...records(spec["initContainers"]), ...records(spec["containers"])].filter(
    (c) => !records(c["volumeMounts"]).some((m) => m["mountPath"] === MOUNT_PATH),
  );
  for (const container of without) {
    const mount = { name, readOnly: true, mountPath: MOUNT_PATH };
    container["volumeMounts"] = [...records(container["volumeMounts"]), mount];
  }
  if (known === undefined && without.length > 0) spec["volumes"] = [...volumes, { name, projected: tokenVolume() }];
}

function tokenVolume(): Json {
  const namespace = { apiVersion: "v1", fieldPath: "metadata.namespace" };
  return {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      { downwardAPI: { items: [{ path: "namespace", fieldRef: namespace }] } },
    ],
    defaultMode: 0o644,
  };
}

function suffix(): string {
  return Array.from(randomBytes(5), (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

/** Pods that mirror a kubelet's own have no account, and no secrets. */
function checkMirror(pod: Draft, spec: Json): void {
  if (text(spec["serviceAccountName"])) throw refusal(PODS, pod, "a mirror pod may not reference service accounts");
  if (secretsOf(spec).length > 0 || array(spec["imagePullSecrets"]).length > 0) {
    throw refusal(PODS, pod, "a mirror pod may not reference secrets");
  }
  const projects = records(spec["volumes"]).flatMap((v) => records(at(v, "projected", "sources")));
  if (projects.some((source) => source["serviceAccountToken"] !== undefined)) {
    throw refusal(PODS, pod, "a mirror pod may not use ServiceAccountToken volume projections");
  }
}

interface Reference {
  readonly secret: string;
  /** The place of it, as messages have it. */
  readonly where: string;
}

function secretsOf(spec: Json): readonly Reference[] {
  const volumes = records(spec["volumes"]).flatMap((v): Reference[] => {
    const secret = text(at(v, "secret", "secretName"));
    return secret ? [{ secret, where: "volume with" }] : [];
  });
  const of = (kind: string, list: unknown): Reference[] =>
    records(list).flatMap((c) => {
      const who = `${kind} ${text(c["name"])}`;
      const env = records(c["env"]).map((e) => ({
        secret: text(at(e, "valueFrom", "secretKeyRef", "name")),
        where: `${who} with envVar ${text(e["name"])} referencing`,
      }));
      const from = records(c["envFrom"]).map((e) => ({
        secret: text(at(e, "secretRef", "name")),
        where: `${who} with envFrom referencing`,
      }));
      return [...env, ...from].filter((r) => r.secret !== "");
    });
  return [...volumes, ...of("init container", spec["initContainers"]), ...of("container", spec["containers"])];
}

/** An annotation of a ServiceAccount can restrict its pods to the Secrets that the ServiceAccount names. */
function checkSecrets(pod: Draft, spec: Json, account: KubeObject): void {
  const allowed = new Set(records(fields(account)["secrets"]).map((s) => text(s["name"])));
  const { name } = account.metadata;
  const bad = secretsOf(spec).find(({ secret }) => !allowed.has(secret));
  if (bad) {
    const why = `${bad.where} secret.secretName="${bad.secret}" is not allowed because service account ${name} does not reference that secret`;
    throw refusal(PODS, pod, why);
  }
  const pulls = new Set(records(fields(account)["imagePullSecrets"]).map((s) => text(s["name"])));
  records(spec["imagePullSecrets"]).forEach((s, i) => {
    if (pulls.has(text(s["name"]))) return;
    const why = `imagePullSecrets[${i}].name="${text(s["name"])}" is not allowed because service account ${name} does not reference that imagePullSecret`;
    throw refusal(PODS, pod, why);
  });
}
