import { Agent, request } from "node:https";
import {
  base64,
  CausewayError,
  hasCode,
  issueCertificate,
  messageOf,
  type Clock,
  type KeyPair,
} from "@causeway/foundation";
import { rangeOf } from "./range.ts";
import { frozenKey, permissionChanges, permissionsOf, type Permission } from "./permissions.ts";

/** How to reach the members of an etcd. */
export interface EtcdAccess {
  /** Addresses of members that are ready. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** The name that their certificates have. */
  readonly serverName: string;
  readonly authority: KeyPair;
  /** Of user root; empty: it has no users. */
  readonly password: string;
}

/** Users of an etcd: each has a prefix of the keys, and nothing else. All calls are safe to repeat. */
export interface EtcdAdmin {
  /** From then on every client is a user. */
  enableAuth(access: EtcdAccess, signal: AbortSignal): Promise<void>;
  /**
   * The user of certificates with this common name may read and write keys that begin with `prefix`, but for the policy
   * of its storage budget, and may only read while it is sealed, or frozen (`frozenKey`).
   */
  ensureUser(access: EtcdAccess, user: EtcdUser, signal: AbortSignal): Promise<void>;
  /** Deletes the user, and then every key of its prefix. */
  removeUser(access: EtcdAccess, user: EtcdUser, signal: AbortSignal): Promise<void>;
}

/** A user of an etcd: one control plane. */
export interface EtcdUser {
  readonly name: string;
  /** "/NAME/" */
  readonly prefix: string;
  /** It stores more than it may, and grew although its API refuses writes. */
  readonly sealed?: boolean;
}

/** Of a shared etcd, which has users. */
const POOLED_HINT =
  "This process creates the users of the pooled etcd: run it where it can reach pods of the service cluster, or choose datastore type Own.";
const OWN_HINT =
  "Run this process where pods of the service cluster can be reached, let network policies admit its namespace to port 2379, and see whether the etcd has a quorum.";
const TIMEOUT = 10_000;
const LONGEST = 16 * 2 ** 20;
const LIFETIME = 24 * 3600_000;

/** One call of etcd's API, such as "kv/range". */
export type Call = (path: string, body?: object, options?: CallOptions) => Promise<Record<string, unknown>>;

/** For one call. */
export interface CallOptions {
  /** One member; undefined: the first one that answers. */
  readonly host?: string;
  /** Milliseconds without a byte. Default: 10 s. */
  readonly timeout?: number;
  /** The most characters of the answer. Default: 16 Mi. */
  readonly longest?: number;
  /**
   * The answer is a stream of JSON objects, one a line: each is given to this function until it returns false, the
   * stream is idle for `timeout`, or it ends. The call returns nothing then.
   */
  readonly onLine?: (line: Record<string, unknown>) => boolean;
}

/**
 * For many calls in a row: as root where the etcd has users, over connections that are kept until the signal aborts or
 * they are idle.
 */
export async function openEtcd(access: EtcdAccess, using: { clock: Clock; signal: AbortSignal }): Promise<Call> {
  const kept = new Agent({ keepAlive: true, maxSockets: 4, timeout: TIMEOUT });
  const call = await callerOf(access, undefined, using, kept);
  if (access.password === "") return call;
  const { token } = await call("auth/authenticate", { name: "root", password: access.password });
  return callerOf(access, typeof token === "string" ? token : "", using, kept);
}

/**
 * etcd's API as JSON over HTTPS (grpc-gateway). It takes the common name of a certificate for no user: root has a
 * password.
 */
export function createEtcdAdmin({ clock }: { readonly clock: Clock }): EtcdAdmin {
  const anonymous = (access: EtcdAccess, signal: AbortSignal): Promise<Call> =>
    callerOf(access, undefined, { clock, signal });
  const asRoot = async (access: EtcdAccess, signal: AbortSignal): Promise<Call> => {
    const call = await anonymous(access, signal);
    const { token } = await call("auth/authenticate", { name: "root", password: access.password });
    return callerOf(access, typeof token === "string" ? token : "", { clock, signal });
  };
  return {
    async enableAuth(access, signal) {
      const call = await anonymous(access, signal);
      if (await isAuthEnabled(call, access)) return;
      if (!(await names(call, "user")).includes("root"))
        await call("auth/user/add", { name: "root", password: access.password });
      // A password of an earlier attempt may be another one.
      await call("auth/user/changepw", { name: "root", password: access.password });
      if (!(await names(call, "role")).includes("root")) await call("auth/role/add", { name: "root" });
      await call("auth/user/grant", { user: "root", role: "root" });
      await call("auth/enable");
    },
    async ensureUser(access, { name, prefix, sealed = false }, signal) {
      const call = await asRoot(access, signal);
      if (!(await names(call, "role")).includes(name)) await call("auth/role/add", { name });
      const isFrozen = await has(call, frozenKey(prefix));
      await setPermissions(call, { name, prefix, sealed: sealed || isFrozen });
      // Another process may freeze it in between.
      if (!sealed && !isFrozen && (await has(call, frozenKey(prefix))))
        await setPermissions(call, { name, prefix, sealed: true });
      if (!(await names(call, "user")).includes(name))
        await call("auth/user/add", { name, options: { no_password: true } });
      const { roles } = await call("auth/user/get", { name });
      if (!Array.isArray(roles) || !roles.includes(name)) await call("auth/user/grant", { user: name, role: name });
    },
    async removeUser(access, { name, prefix }, signal) {
      const call = await asRoot(access, signal);
      // The user first: an API server that still runs must not write behind the deletion.
      if ((await names(call, "user")).includes(name)) await call("auth/user/delete", { name });
      if ((await names(call, "role")).includes(name)) await call("auth/role/delete", { role: name });
      await call("kv/deleterange", rangeOf(prefix));
    },
  };
}

/** Changes only what differs: each change of rights makes requests of all users repeat themselves. */
async function setPermissions(call: Call, { name, prefix, sealed = false }: EtcdUser): Promise<void> {
  const changes = permissionChanges(await permissions(call, name), permissionsOf(prefix, sealed));
  for (const perm of changes.grant) await call("auth/role/grant", { name, perm });
  for (const { key, range_end } of changes.revoke) await call("auth/role/revoke", { role: name, key, range_end });
}

/** With users, etcd says only to them that it has users: an earlier process made root. */
async function isAuthEnabled(call: Call, { password }: EtcdAccess): Promise<boolean> {
  try {
    await call("auth/authenticate", { name: "root", password });
    return true;
  } catch (error) {
    if (!hasCode(error, "PODS_ETCD_REFUSED")) throw error;
    return (await call("auth/status"))["enabled"] === true;
  }
}

async function has(call: Call, key: string): Promise<boolean> {
  const { count = "0" } = (await call("kv/range", { key: base64(key), count_only: true })) as { count?: string };
  return Number(count) > 0;
}

async function names(call: Call, kind: "user" | "role"): Promise<string[]> {
  const answer = await call(`auth/${kind}/list`);
  const found = answer[`${kind}s`];
  return Array.isArray(found) ? found.filter((name) => typeof name === "string") : [];
}

/** Of a role. JSON leaves out what is the first of its kind: a permission without a type is one to read. */
async function permissions(call: Call, role: string): Promise<Permission[]> {
  const { perm } = await call("auth/role/get", { role });
  if (!Array.isArray(perm)) return [];
  return (perm as (Partial<Permission> & { readonly permType?: string })[]).map(
    ({ permType = "READ", key = "", range_end }) => ({
      // One that may write only is none of ours: it is granted again.
      permType: permType === "READWRITE" ? "READWRITE" : "READ",
      key,
      ...(range_end === undefined || range_end === "" ? {} : { range_end }),
    }),
  );
}

/** Calls the first member that answers. */
async function callerOf(
  access: EtcdAccess,
  token: string | undefined,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
  agent: Agent | false = false,
): Promise<Call> {
  // With a common name etcd refuses the request, since the name would be no user here.
  const subject = {
    commonName: "",
    organizations: ["causeway"],
    usages: ["client"] as const,
    lifetime: LIFETIME,
    now: clock.now(),
  };
  const { certificate: cert, key } = await issueCertificate(access.authority, subject);
  const tls = { ca: access.authority.certificate, cert, key, servername: access.serverName };
  return async (path, body = {}, options = {}) => {
    let last: unknown = new Error("no member is ready");
    for (const host of options.host === undefined ? access.addresses : [options.host]) {
      try {
        const where = { ...tls, agent, host, port: access.port, path: `/v3/${path}` };
        return await post(where, { body, token, ...options }, signal);
      } catch (error) {
        // A refusal is the same from each member.
        if (error instanceof CausewayError) throw error;
        last = error;
      }
    }
    throw new CausewayError("PODS_ETCD_UNREACHABLE", `etcd cannot be reached for ${path}: ${messageOf(last)}`, {
      hint: access.password === "" ? OWN_HINT : POOLED_HINT,
      cause: last,
    });
  };
}

interface EtcdRequest {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly servername: string;
  readonly agent: Agent | false;
}

function post(
  options: EtcdRequest,
  {
    body,
    token,
    timeout = TIMEOUT,
    longest = LONGEST,
    onLine,
  }: Omit<CallOptions, "host"> & { body: object; token: string | undefined },
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", ...(token === undefined ? {} : { authorization: token }) };
    // A stream is left in the middle: its connection is not used again.
    const agent = onLine === undefined ? options.agent : false;
    let streams = false;
    const sent = request({ ...options, agent, method: "POST", timeout, headers, signal }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      if (onLine !== undefined && response.statusCode === 200) {
        streams = true;
        response.on("error", () => resolve({}));
        response.on("close", () => resolve({}));
        response.on("data", (chunk: string) => {
          const lines = (text + chunk).split("\n");
          text = lines.pop() ?? "";
          const isEnough = text.length > longest || lines.some((line) => line !== "" && !onLine(parsed(line)));
          if (isEnough) sent.destroy();
        });
        return;
      }
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > longest) sent.destroy(tooLong(options.path, longest));
      });
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode === 200) return resolve(parsed(text));
        const { message = text.slice(0, 200) } = parsed(text);
        return reject(
          new CausewayError(
            "PODS_ETCD_REFUSED",
            `etcd refused ${options.path}: ${String(message)} (status ${response.statusCode})`,
          ),
        );
      });
    });
    sent.on("timeout", () => sent.destroy(streams ? undefined : new Error("it does not answer")));
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}

function tooLong(path: string, longest: number): CausewayError {
  return new CausewayError(
    "PODS_ETCD_ANSWER_TOO_LONG",
    `the answer of etcd to ${path} has more than ${longest} bytes`,
    {
      hint: "One object in etcd is larger than an API server stores: find it with etcdctl and delete it.",
    },
  );
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
