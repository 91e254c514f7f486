import { createHash, randomBytes } from "node:crypto";
import { messageOf, type Clock, type Log } from "@causeway/foundation";
import { isRecord, record, text, texts } from "../json/json.ts";
import type { TokenWebhookOptions } from "../contract/authentication.ts";
import type { TokenFacts } from "../contract/identity.ts";
import { authenticated } from "../contract/user.ts";
import { createWebhookClient } from "./webhook-client.ts";

const TTL = 120_000;
const TIMEOUT = 30_000;
/** For all tries together: as long as kube-apiserver lets a request take. */
const DEADLINE = 60_000;
const TRIES = 5;
const FIRST_DELAY = 500;
const CACHED = 4096;

/** Asks a webhook for the users of tokens. */
export interface WebhookTokens {
  /** undefined when it knows no such token. Throws WEBHOOK_FAILED. */
  verify(token: string, audiences: readonly string[]): Promise<TokenFacts | undefined>;
  close(): void;
}

interface Cached {
  readonly until: number;
  readonly answer: Promise<TokenFacts | undefined>;
}

/** Requests TokenReviews; the results are kept for `cacheTtl` milliseconds (default two minutes). */
export function webhookTokens(
  { kubeconfigFile, cacheTtl = TTL }: TokenWebhookOptions,
  { clock, log }: { clock: Clock; log: Log },
): WebhookTokens {
  const client = createWebhookClient(kubeconfigFile);
  const closing = new AbortController();
  // Tokens are kept as digests under a key of this process, so that no dump of its memory shows them.
  const salt = randomBytes(32);
  const cache = new Map<string, Cached>();

  const ask = async (token: string, audiences: readonly string[]): Promise<TokenFacts | undefined> => {
    const spec = { token, audiences };
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec };
    const body = JSON.stringify(review);
    const end = clock.now() + DEADLINE;
    for (let attempt = 1; ; attempt += 1) {
      const timeout = Math.max(1, Math.min(TIMEOUT, end - clock.now()));
      try {
        return factsOf(await client.post(body, { timeout, signal: closing.signal }), audiences);
      } catch (error) {
        const delay = FIRST_DELAY * 1.5 ** (attempt - 1);
        if (attempt >= TRIES || closing.signal.aborted || clock.now() + delay >= end) throw error;
        log.warn("the token webhook failed", { reason: messageOf(error), attempt });
        await clock.sleep(delay, closing.signal);
      }
    }
  };

  return {
    verify(token, audiences) {
      const key = createHash("sha256")
        .update(salt)
        .update(JSON.stringify([token, audiences]))
        .digest("base64");
      const known = cache.get(key);
      if (known && clock.now() < known.until) return known.answer;
      const answer = ask(token, audiences);
      cache.set(key, { until: clock.now() + cacheTtl, answer });
      const [oldest] = cache.keys();
      if (cache.size > CACHED && oldest !== undefined) cache.delete(oldest);
      // Only answers are kept: a failure is no answer.
      answer.catch(() => cache.delete(key));
      return answer;
    },
    close() {
      closing.abort();
      client.close();
    },
  };
}

function factsOf(review: unknown, asked: readonly string[]): TokenFacts | undefined {
  const status = record(record(review)["status"]);
  if (status["authenticated"] !== true) return undefined;
  const { username, uid, groups, extra } = record(status["user"]);
  // A webhook that says nothing of audiences does not know them, and means this server.
  const accepted = texts(status["audiences"]);
  const audiences = accepted.length === 0 ? asked : accepted.filter((a) => asked.includes(a));
  if (!text(username) || audiences.length === 0) return undefined;
  const more = isRecord(extra) ? Object.entries(extra).map(([key, values]) => [key, texts(values)] as const) : [];
  const user = {
    name: text(username),
    ...(text(uid) ? { uid: text(uid) } : {}),
    groups: texts(groups),
    ...(more.length > 0 ? { extra: Object.fromEntries(more) } : {}),
  };
  return { user: authenticated(user), audiences };
}
