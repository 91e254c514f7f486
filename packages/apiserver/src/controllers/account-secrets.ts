import type { KubeObject } from "@causeway/kubernetes";
import { issueLegacyToken } from "../auth/legacy-token.ts";
import type { Cluster } from "../contract/cluster.ts";
import { at, fields, record, same, text } from "../json/json.ts";
import type { Draft } from "../contract/resource.ts";
import { internalCall } from "../contract/call.ts";
import { remove } from "../registry/delete.ts";
import { change } from "../registry/update.ts";
import { builtIn, type Controller } from "../contract/controller.ts";
import { startLoop } from "./loop.ts";
import { ignoreMissing } from "./namespaces.ts";

const TYPE = "kubernetes.io/service-account-token";
const NAME = "kubernetes.io/service-account.name";
const UID = "kubernetes.io/service-account.uid";

/**
 * Fills Secrets of type kubernetes.io/service-account-token with a token that does not expire, and deletes them with
 * their account. Source: kubernetes.io "Managing Service Accounts", token controller.
 */
export function accountSecrets(cluster: Cluster): Controller {
  const loop = startLoop({
    name: "account-secrets",
    cluster,
    reconcile: (key) => settle(cluster, key),
  });
  const check = (object: KubeObject): void => {
    if (isTokenSecret(object)) loop.add(`${object.metadata.namespace ?? ""}/${object.metadata.name}`);
  };
  const checkAccounts = (namespace?: string): void => {
    const query = { cluster: cluster.name, resource: "/secrets", ...(namespace ? { namespace } : {}) };
    for (const { object } of cluster.store.list(query).items) check(object);
  };
  return {
    saw({ resource, object, type }) {
      if (resource.storage === "/secrets" && type !== "DELETED") check(object);
      if (resource.storage === "/serviceaccounts" && type === "DELETED") checkAccounts(object.metadata.namespace);
    },
    resume: () => checkAccounts(),
    stop: () => loop.stop(),
  };
}

function isTokenSecret(object: KubeObject): boolean {
  return fields(object)["type"] === TYPE && !object.metadata.deletionTimestamp;
}

async function settle(cluster: Cluster, key: string): Promise<void> {
  const [namespace = "", name = ""] = key.split("/");
  const find = (resource: string, wanted: string): KubeObject | undefined =>
    cluster.store.get({ cluster: cluster.name, resource, namespace, name: wanted })?.object;
  const secret = find("/secrets", name);
  if (!secret || !isTokenSecret(secret)) return;
  const call = internalCall(cluster, builtIn(cluster, "", "secrets"), { namespace, name });
  const annotations = record(secret.metadata.annotations);
  const account = find("/serviceaccounts", text(annotations[NAME]));
  const uid = account?.metadata.uid;
  if (!account || uid === undefined || (text(annotations[UID]) && annotations[UID] !== uid)) {
    await remove(call, { uid: secret.metadata.uid ?? "" }).catch(ignoreMissing);
    return;
  }
  const base64 = (value: string): string => Buffer.from(value).toString("base64");
  const token = text(at(secret, "data", "token")) || base64(await issueLegacyToken(cluster, account, name));
  const known = { "ca.crt": base64(cluster.servingAuthority()), namespace: base64(namespace), token };
  const data = { ...record(fields(secret)["data"]), ...known };
  if (same(data, fields(secret)["data"]) && annotations[UID] === uid) return;
  await change(call, ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    draft.metadata.annotations = { ...draft.metadata.annotations, [UID]: uid };
    draft["data"] = { ...record(draft["data"]), ...known };
    return { draft, tracked: false };
  }).catch(ignoreMissing);
}
