import { get } from "node:https";
import type { CompactVerifyGetKey, JSONWebKeySet } from "jose";
import { messageOf, refuseOddResponses, type Clock, type Reach } from "@causeway/foundation";
import { array, isRecord, text, type Json } from "../../json/json.ts";
import type { JwtIssuer } from "./configuration.ts";
import { jose } from "../../lazy-imports.ts";

/** The keys an issuer signs with. */
export interface Keys {
  /** The key that signed a token; reads new keys when it is not known. Throws when there is none. */
  readonly find: CompactVerifyGetKey;
}

/** For discovery and keys together, in milliseconds. */
const TIMEOUT = 10_000;
/** Bytes of a document: to parse one that is deeply nested takes up to 0.5 s for a MiB. */
const LONGEST = 256 * 1024;
/** Keys of an issuer: each token is compared with all. */
const MOST_KEYS = 256;
/** How soon keys are requested again from the issuer, whatever tokens come. */
const COOLDOWN = 1000;

/**
 * Finds an issuer's keys by discovery, when the first token asks for them. `reach` limits where it and its keys may be;
 * default: anywhere.
 */
export function issuerKeys(issuer: JwtIssuer, clock: Clock, reach?: Reach): Keys {
  let known: CompactVerifyGetKey | undefined;
  let asked = -Infinity;
  let asking: Promise<CompactVerifyGetKey> | undefined;

  const fetched = async (): Promise<CompactVerifyGetKey> => {
    const options = { ca: issuer.certificateAuthority, signal: AbortSignal.timeout(TIMEOUT), reach };
    const found = await getJson(issuer.discoveryUrl, options);
    if (found["issuer"] !== issuer.url) throw new Error("it did not match the issuer returned by provider");
    const jwksUri = text(found["jwks_uri"]);
    if (!jwksUri.startsWith("https://")) throw new Error("provider has no jwks_uri over https");
    const set = await getJson(jwksUri, options);
    const count = array(set["keys"]).length;
    if (count > MOST_KEYS) throw new Error(`${jwksUri} returned ${count} keys, and ${MOST_KEYS} at most are read`);
    known = jose().createLocalJWKSet(set as unknown as JSONWebKeySet);
    return known;
  };

  const fresh = async (): Promise<CompactVerifyGetKey | undefined> => {
    if (!asking && clock.now() - asked < COOLDOWN) return known;
    asked = clock.now();
    asking ??= fetched()
      .catch((cause: unknown) => {
        throw new Error(`oidc: issuer ${issuer.url}: ${messageOf(cause)}`, { cause });
      })
      .finally(() => (asking = undefined));
    return asking;
  };

  return {
    async find(header, token) {
      const before = known;
      if (before) {
        const key = await Promise.resolve(before(header, token)).catch(() => undefined);
        if (key) return key;
      }
      const after = await fresh();
      if (!after) throw new Error("oidc: authenticator not initialized");
      return after(header, token);
    },
  };
}

interface GetOptions {
  readonly ca: string | undefined;
  readonly signal: AbortSignal;
  readonly reach: Reach | undefined;
}

function getJson(url: string, { ca, signal, reach }: GetOptions): Promise<Json> {
  return new Promise((resolve, reject) => {
    const refusal = reach?.refusal(url);
    if (refusal !== undefined) return reject(new Error(refusal));
    const guard = reach === undefined ? {} : { lookup: reach.lookup };
    const options = { signal, agent: false as const, ...(ca === undefined ? {} : { ca }), ...guard };
    const sent = get(url, options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > LONGEST) sent.destroy(new Error(`${url} returned more than ${LONGEST} bytes`));
      });
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode !== 200) return reject(new Error(`${url} returned ${response.statusCode ?? 0}`));
        const parsed = parsedJson(Buffer.concat(chunks).toString("utf8"));
        return isRecord(parsed) ? resolve(parsed) : reject(new Error(`${url} returned no JSON object`));
      });
    });
    sent.on("error", reject);
    refuseOddResponses(sent, reject);
  });
}

function parsedJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
