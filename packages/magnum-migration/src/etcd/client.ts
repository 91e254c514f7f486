import { request } from "node:https";
import { CausewayError, messageOf } from "@causeway/foundation";

/** A member of the cluster's etcd, as /v3/cluster/member/list returns it. */
export interface EtcdMember {
  readonly id: string;
  /** Empty until it was started. */
  readonly name: string;
  readonly peerURLs: readonly string[];
  readonly isLearner: boolean;
}

/** What one member reports: its etcd's version, and the revision that it has. */
export interface EtcdStatus {
  readonly version: string;
  readonly revision: string;
  readonly memberId: string;
}

/** The part of etcd's API that a migration needs, by its JSON gateway. */
export interface EtcdClient {
  members(signal: AbortSignal): Promise<readonly EtcdMember[]>;
  addLearner(peerURL: string, signal: AbortSignal): Promise<void>;
  /** False: it is not in sync yet. */
  promote(id: string, signal: AbortSignal): Promise<boolean>;
  remove(id: string, signal: AbortSignal): Promise<void>;
  /** Of the member at one URL. */
  status(url: string, signal: AbortSignal): Promise<EtcdStatus>;
  /** A hash of all keys at a revision, by the member at one URL. */
  hash(url: string, revision: string, signal: AbortSignal): Promise<string>;
}

/** URLs of members, and the PEM texts of mutual TLS. */
export interface EtcdAccess {
  readonly urls: readonly string[];
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

const TIMEOUT = 10_000;
const MOST = 1024 * 1024;

type Json = Readonly<Record<string, unknown>>;

interface Sent extends Pick<EtcdAccess, "authority" | "certificate" | "key"> {
  readonly url: string;
  readonly body: Json;
  readonly signal: AbortSignal;
}

/** A client of the members at `urls`, tried in order. */
export function createEtcdClient(access: EtcdAccess): EtcdClient {
  const { authority, certificate, key, urls } = access;
  const tls = { authority, certificate, key };
  const at = (url: string, path: string, body: Json, signal: AbortSignal) =>
    send({ ...tls, url: `${url}${path}`, body, signal });
  const any = async (path: string, body: Json, signal: AbortSignal): Promise<Json> => {
    let last: unknown;
    for (const url of urls) {
      try {
        return await at(url, path, body, signal);
      } catch (error) {
        if (error instanceof CausewayError && error.code === "MIGRATE_ETCD_REFUSED") throw error;
        last = error;
      }
    }
    throw last;
  };
  return {
    async members(signal) {
      const { members } = await any("/v3/cluster/member/list", {}, signal);
      return (Array.isArray(members) ? (members as readonly Json[]) : []).map((one) => ({
        id: String((one["ID"] ?? "") as string),
        name: String((one["name"] ?? "") as string),
        peerURLs: (one["peerURLs"] ?? []) as readonly string[],
        isLearner: one["isLearner"] === true,
      }));
    },
    async addLearner(peerURL, signal) {
      await any("/v3/cluster/member/add", { peerURLs: [peerURL], isLearner: true }, signal);
    },
    async promote(id, signal) {
      try {
        await any("/v3/cluster/member/promote", { ID: id }, signal);
        return true;
      } catch (error) {
        if (messageOf(error).includes("in sync with leader") || messageOf(error).includes("not a learner"))
          return false;
        throw error;
      }
    },
    async remove(id, signal) {
      try {
        await any("/v3/cluster/member/remove", { ID: id }, signal);
      } catch (error) {
        // An earlier attempt whose response was lost has removed it.
        if (!messageOf(error).includes("member not found")) throw error;
      }
    },
    async status(url, signal) {
      const answer = await at(url, "/v3/maintenance/status", {}, signal);
      const header = (answer["header"] ?? {}) as Json;
      return {
        version: String((answer["version"] ?? "") as string),
        revision: String((header["revision"] ?? "0") as string),
        memberId: String((header["member_id"] ?? "") as string),
      };
    },
    async hash(url, revision, signal) {
      const answer = await at(url, "/v3/maintenance/hash", { revision }, signal);
      return String(answer["hash"] as number);
    },
  };
}

function send({ url, authority, certificate, key, body, signal }: Sent): Promise<Json> {
  return new Promise((resolve, reject) => {
    const unreachable = (error: unknown): void =>
      reject(
        new CausewayError("MIGRATE_ETCD_UNREACHABLE", `etcd at ${url} cannot be reached: ${messageOf(error)}`, {
          cause: error,
          hint: "The masters' port 2379 has to be reachable from here, and the peer port of the hosted control plane from the masters.",
        }),
      );
    const headers = { "content-type": "application/json" };
    const sent = request(
      url,
      { method: "POST", ca: authority, cert: certificate, key, headers, signal, timeout: TIMEOUT, agent: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
          if (text.length > MOST) sent.destroy(new Error("the response is too large"));
        });
        response.on("error", unreachable);
        response.on("end", () => {
          const parsed = parse(text);
          if (response.statusCode === 200 && parsed) resolve(parsed);
          else reject(refusal(url, response.statusCode, parsed ?? { error: text }));
        });
      },
    );
    sent.on("timeout", () => sent.destroy(new Error("it does not answer")));
    sent.on("error", unreachable);
    sent.end(JSON.stringify(body));
  });
}

/**
 * The gateway answers 503 (gRPC's Unavailable) while etcd elects a leader, cannot reach its members or is slow: no
 * refusal.
 */
function refusal(url: string, status: number | undefined, answer: Json): CausewayError {
  const reason = String((answer["message"] ?? answer["error"]) as string).slice(0, 300);
  return status === 503
    ? new CausewayError("MIGRATE_ETCD_UNAVAILABLE", `etcd at ${url} is not available: ${reason}`, {
        hint: "Run the phase again when etcd has a leader and all its members are connected.",
      })
    : new CausewayError("MIGRATE_ETCD_REFUSED", `etcd at ${url} refused: ${reason}`);
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
