/** What the etcd that control planes share holds: read as user root, by etcd's HTTP API. */
import { request } from "node:https";
import { issueCertificate } from "@causeway/foundation";
import { Namespace, Pod, Secret, secretText, type KubernetesClient } from "@causeway/kubernetes";

interface SharedEtcd {
  readonly users: readonly string[];
  /** Of every user but root. */
  readonly permissions: readonly { permType: string; key: string; range_end: string }[];
  /** The first parts of all keys. */
  readonly prefixes: readonly string[];
}

/** One call of its HTTP API as user root, by its first member or another one. */
export type EtcdPost = (path: string, body: object, member?: number) => Promise<Record<string, unknown>>;

/** One call of an etcd's HTTP API with a token of one of its users, or without. */
type Post = (
  path: string,
  body: object,
  options?: { authorization?: string; member?: number },
) => Promise<Record<string, unknown>>;

export async function openSharedEtcd(client: KubernetesClient, labelSelector: string): Promise<EtcdPost> {
  const { items } = await client.list(Namespace, { labelSelector });
  const found = items.find(({ metadata }) => metadata.annotations?.["controlplane.causeway.dev/id"] === "etcd");
  const namespace = found?.metadata.name ?? "";
  const post = await openEtcdOf(client, namespace);
  const password = secretText(await client.get(Secret, { namespace, name: "etcd-root" }), "password");
  const { token } = (await post("auth/authenticate", { name: "root", password })) as { token?: string };
  return (path, body, member = 0) => post(path, body, { authorization: token ?? "", member });
}

/** The etcd whose members are pods of this namespace. */
export async function openEtcdOf(client: KubernetesClient, namespace: string): Promise<Post> {
  const authority = await client.get(Secret, { namespace, name: "etcd-ca" });
  const pair = { certificate: secretText(authority, "ca.crt") ?? "", key: secretText(authority, "ca.key") ?? "" };
  const issued = await issueCertificate(pair, {
    commonName: "",
    organizations: ["test"],
    usages: ["client"],
    lifetime: 3600_000,
  });
  const tls = { ca: pair.certificate, cert: issued.certificate, key: issued.key, servername: `etcd.${namespace}.svc` };
  return async (path, body, { authorization = "", member = 0 } = {}) => {
    const { status } = await client.get(Pod, { namespace, name: `etcd-${member}` });
    return new Promise((resolve, reject) => {
      const options = {
        ...tls,
        host: status?.podIP,
        port: 2379,
        path: `/v3/${path}`,
        method: "POST",
        agent: false as const,
      };
      const sent = request({ ...options, headers: authorization === "" ? {} : { authorization } }, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve(JSON.parse(text) as Record<string, unknown>));
      });
      sent.on("error", reject);
      sent.end(JSON.stringify(body));
    });
  };
}

/** The pod of the member that leads the etcd of this namespace. */
export async function leaderOf(client: KubernetesClient, namespace: string, members: number): Promise<string> {
  const etcd = await openEtcdOf(client, namespace);
  for (let member = 0; member < members; member++) {
    const { header, leader: id } = (await etcd("maintenance/status", {}, { member })) as {
      header: { member_id: string };
      leader: string;
    };
    if (header.member_id === id) return `etcd-${member}`;
  }
  throw new Error("no member leads");
}

export async function readSharedEtcd(client: KubernetesClient, labelSelector: string): Promise<SharedEtcd> {
  const post = (await openSharedEtcd(client, labelSelector)) as (path: string, body: object) => Promise<Answer>;
  const { users = [] } = await post("auth/user/list", {});
  const others = users.filter((name) => name !== "root");
  const roles = await Promise.all(others.map((role) => post("auth/role/get", { role })));
  const all = { key: base64("\0"), range_end: base64("\0"), keys_only: true };
  const { kvs = [] } = await post("kv/range", all);
  return {
    users,
    permissions: roles
      .flatMap(({ perm = [] }) => perm)
      .map(({ permType = "READ", key, range_end = "" }) => ({ permType, key: text(key), range_end: text(range_end) })),
    prefixes: [...new Set(kvs.map(({ key }) => /^\/[^/]*\//.exec(text(key))?.[0] ?? text(key)))],
  };
}

interface Answer {
  readonly users?: readonly string[];
  readonly perm?: readonly { permType?: string; key: string; range_end?: string }[];
  readonly kvs?: readonly { key: string }[];
}

const base64 = (plain: string): string => Buffer.from(plain).toString("base64");
const text = (encoded: string): string => Buffer.from(encoded, "base64").toString();
