import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { CausewayError, messageOf, refuseOddResponses, retry, type Clock } from "@causeway/foundation";
import type { ObjectStore } from "../store.ts";
import { keysOf, textOf } from "./list-answer.ts";
import { signS3, type S3Credentials } from "./sign.ts";

/** The endpoint, bucket and credentials. */
export interface S3StoreOptions {
  /** "https://s3.example.org" or with a port; its path is a prefix of every bucket's path. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Read for each request, so that they can be changed. */
  readonly credentials: (signal: AbortSignal) => Promise<S3Credentials>;
  /** PEM certificates of the endpoint's authority. Default: those that this machine trusts. */
  readonly certificateAuthority?: string;
  readonly clock: Clock;
}

/** A bucket of S3 that backups are kept in. */
export interface S3Store extends ObjectStore {
  /** Creates the bucket if it does not exist. */
  createBucket(signal: AbortSignal): Promise<void>;
}

/** Milliseconds without a byte. */
const TIMEOUT = 60_000;
/** Of an object: parts of backups have a few MiB, lists of keys less than this. */
const LARGEST = 512 * 2 ** 20;
const PAGE = 1_000;
/** Pages of one list: a server that gives the same page again and again does not keep us busy for ever. */
const PAGES = 10_000;

interface Call {
  readonly method: string;
  readonly name?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Statuses that are no error, next to 2xx. */
  readonly accepts?: readonly number[];
  /** The code with which status 404 is no error: with another one the bucket, or the user, does not exist. */
  readonly absent?: string;
}

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * A bucket of an object storage with the API of S3: AWS, Ceph, MinIO, or Swift with its S3 middleware. Buckets are part
 * of the path, which all of them support. What fails for a moment is tried again.
 */
export function createS3Store(options: S3StoreOptions): S3Store {
  const { bucket, clock } = options;
  const description = `bucket ${bucket} at ${options.endpoint}`;
  const call = async (request: Call, signal: AbortSignal): Promise<Answer> => {
    try {
      return await retry(() => send(options, request, signal), { clock, signal, attempts: 5, retryable: isTransient });
    } catch (error) {
      if (error instanceof CausewayError || signal.aborted) throw error;
      throw unreachable(description, error);
    }
  };
  return {
    description,
    async put(name, body, signal) {
      await call({ method: "PUT", name, body }, signal);
    },
    async get(name, signal) {
      const { status, body } = await call({ method: "GET", name, absent: "NoSuchKey" }, signal);
      return status === 404 ? undefined : body;
    },
    async delete(name, signal) {
      await call({ method: "DELETE", name, absent: "NoSuchKey" }, signal);
    },
    async list(prefix, signal) {
      const names: string[] = [];
      let token: string | undefined;
      for (let page = 0; page < PAGES; page++) {
        const more = token === undefined ? {} : { "continuation-token": token };
        const query = { "list-type": "2", "max-keys": String(PAGE), "encoding-type": "url", prefix, ...more };
        const text = (await call({ method: "GET", query }, signal)).body.toString();
        names.push(...keysOf(text));
        const next = textOf(text, "NextContinuationToken");
        if (textOf(text, "IsTruncated") !== "true" || next === undefined || next === token) return names.toSorted();
        token = next;
      }
      throw new CausewayError(
        "BACKUP_STORE_FAILED",
        `${description} has more than ${PAGES * PAGE} objects with ${prefix}`,
      );
    },
    async createBucket(signal) {
      const { status } = await call({ method: "HEAD", accepts: [404] }, signal);
      // Another process was faster.
      if (status === 404) await call({ method: "PUT", body: location(options.region), accepts: [409] }, signal);
    },
  };
}

/** The first region is the default one, and must not be named. */
function location(region: string): Uint8Array {
  if (region === "us-east-1") return new Uint8Array();
  const xml = `<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>${region}</LocationConstraint></CreateBucketConfiguration>`;
  return Buffer.from(xml);
}

async function send(options: S3StoreOptions, request: Call, signal: AbortSignal): Promise<Answer> {
  const { endpoint, region, bucket, clock, certificateAuthority } = options;
  const { method, name, query = {}, body = new Uint8Array(), accepts = [], absent } = request;
  const url = new URL(endpoint);
  const base = url.pathname.replace(/\/+$/, "");
  const path = `${base}/${bucket}${name === undefined ? "" : `/${name}`}`;
  const credentials = await options.credentials(signal);
  const signed = signS3(
    { method, host: url.host, path, query, headers: {}, body },
    { credentials, region, now: clock.now() },
  );
  const headers = { ...signed.headers, "content-length": String(body.length) };
  const where = { hostname: url.hostname.replaceAll(/^\[|\]$/g, ""), port: url.port, path: signed.target };
  const tls = certificateAuthority === undefined ? {} : { ca: certificateAuthority };
  const answer = await exchange(url.protocol, { ...where, ...tls, method, headers, signal }, body);
  if ((answer.status >= 200 && answer.status < 300) || accepts.includes(answer.status)) return answer;
  if (answer.status === 404 && absent !== undefined && textOf(answer.body.toString(), "Code") === absent) return answer;
  throw refused(`bucket ${bucket} at ${endpoint}`, { method, ...answer });
}

function exchange(protocol: string, options: object, body: Uint8Array): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const answered = (response: IncomingMessage): void => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > LARGEST) sent.destroy(new Error("the answer is too long"));
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
      // An answer that ends in the middle is not an object.
      response.on("close", () => {
        if (!response.complete) reject(new Error("the connection ended in the middle of the answer"));
      });
    };
    const all = { ...options, timeout: TIMEOUT };
    const sent = protocol === "http:" ? httpRequest(all, answered) : httpsRequest(all, answered);
    sent.on("timeout", () => sent.destroy(new Error("it does not answer")));
    sent.on("error", reject);
    refuseOddResponses(sent, reject);
    sent.end(body);
  });
}

/** A refusal of what was sent is the same the next time; all else may be better. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof CausewayError)) return true;
  const status = error.details?.["status"];
  return typeof status === "number" && (status >= 500 || status === 429);
}

function refused(description: string, { method, status, body }: Answer & { method: string }): CausewayError {
  const text = body.toString("utf8", 0, 4_096);
  const code = textOf(text, "Code") ?? "no code";
  const message = (textOf(text, "Message") ?? "").slice(0, 300);
  return new CausewayError(
    "BACKUP_STORE_FAILED",
    `${description} refused ${method}: status ${status}, ${code}${message === "" ? "" : `: ${message}`}`,
    { hint: hintOf(status, code), details: { status } },
  );
}

function unreachable(description: string, cause: unknown): CausewayError {
  return new CausewayError("BACKUP_STORE_UNREACHABLE", `${description} cannot be reached: ${messageOf(cause)}`, {
    hint: "Check the endpoint, the network, and ca.crt in the Secret of --backup-s3-secret.",
    cause,
  });
}

function hintOf(status: number, code: string): string {
  if (code === "NoSuchBucket") return "Create the bucket, or name another one with --backup-container.";
  if (code === "RequestTimeTooSkewed") return "Set the clock of this machine.";
  if (status === 401 || status === 403 || status === 404)
    return "Check the keys in the Secret of --backup-s3-secret, the region, and what its user may do with the bucket.";
  return "Check the endpoint and the region; what fails for a moment is tried again.";
}
