import { LimitExceeded, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { errorFromAnswer, type CallFacts } from "../errors/openstack-error.ts";
import { errorFromDeadline, errorFromNetwork, errorFromSize } from "../errors/network-error.ts";
import type { Budget } from "./budget.ts";
import { deletionsHeld, isDeletion } from "./deletions.ts";
import { measures } from "./measures.ts";
import type { CallCounter } from "./stats.ts";
import type { BodyData, HttpAnswer, Transport } from "./transport.ts";

/** One HTTP request, not repeated. */
export interface Call {
  readonly service: string;
  readonly method: string;
  readonly url: string;
  /** The path with {id} in place of ids, for counting. */
  readonly route: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** In place of a JSON body. */
  readonly content?: { readonly type: string; readonly data: BodyData | (() => BodyData) } | undefined;
  /** A media type other than JSON: the response is then returned as bytes. */
  readonly accept?: string | undefined;
  /** Milliseconds until the whole response has arrived. */
  readonly deadline: number;
  /** Maximum size of the response in bytes. Default 64 MiB. */
  readonly limit?: number | undefined;
  /** As in `CallOptions`. */
  readonly deletes?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called when the budget has admitted it. */
  readonly onSent?: (() => void) | undefined;
}

/** What all calls of one cloud share. */
export interface ExchangeOptions {
  readonly cloud: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly userAgent: string;
  readonly transport: Transport;
  readonly budget: Budget;
  readonly counter: CallCounter;
  readonly metrics?: Metrics | undefined;
  /** Whether nothing may be deleted now. */
  readonly holdDeletions?: (() => boolean) | undefined;
  /** What no message may show: the configured password, secret or token. */
  readonly secrets: () => readonly string[];
  /** Aborts with the reason that every later call is refused with. */
  readonly closed: AbortSignal;
}

/** Sends a call within the cloud's budget; anything but a status below 400 is thrown as a CausewayError. */
export type Exchange = (call: Call) => Promise<HttpAnswer>;

/** The one place that sends calls to a cloud: it applies the budget and the deadline, counts, measures and logs. */
export function createExchange(options: ExchangeOptions): Exchange {
  const { clock, log, budget, counter } = options;
  const measure = measures(options.metrics);
  return async (given) => {
    if (isDeletion(given) && options.holdDeletions?.() === true) throw deletionsHeld(given);
    const signal = given.signal ? AbortSignal.any([given.signal, options.closed]) : options.closed;
    const call = { ...given, signal };
    const facts: CallFacts = { cloud: options.cloud, service: call.service, method: call.method, url: bare(call.url) };
    const leave = await budget.enter(call.service, call.signal);
    call.onSent?.();
    const begun = clock.now();
    let status = "none";
    try {
      counter.count(call.method, call.service, call.route);
      const answer = await withDeadline(options, call, facts);
      status = String(answer.status);
      log.debug("openstack call", {
        service: call.service,
        method: call.method,
        route: call.route,
        status: answer.status,
        milliseconds: clock.now() - begun,
        requestId: requestIdOf(answer),
      });
      if (answer.status < 400) {
        budget.succeeded(call.service);
        return answer;
      }
      throw refusal(options, { call, facts, answer });
    } finally {
      leave();
      measure(call, status, (clock.now() - begun) / 1000);
    }
  };
}

async function withDeadline(options: ExchangeOptions, call: Call, facts: CallFacts): Promise<HttpAnswer> {
  const { clock, transport } = options;
  const over = new AbortController();
  const done = new AbortController();
  clock.sleep(call.deadline, done.signal).then(
    () => over.abort(),
    () => {},
  );
  const signal = call.signal ? AbortSignal.any([call.signal, over.signal]) : over.signal;
  const { type, data } = contentOf(call);
  const headers = {
    Accept: call.accept ?? "application/json",
    "User-Agent": options.userAgent,
    ...(type !== undefined && { "Content-Type": type }),
    ...call.headers,
  };
  const { limit } = call;
  const binary = call.accept !== undefined;
  try {
    return await transport.send({ method: call.method, url: call.url, headers, signal, body: data, binary, limit });
  } catch (cause) {
    if (call.signal?.aborted) throw call.signal.reason;
    if (over.signal.aborted) throw errorFromDeadline(facts, call.deadline);
    if (cause instanceof LimitExceeded) throw errorFromSize(facts, cause);
    throw errorFromNetwork(facts, cause);
  } finally {
    done.abort();
  }
}

function contentOf({ body, content }: Call): { type?: string; data: BodyData | undefined } {
  if (content) return { type: content.type, data: typeof content.data === "function" ? content.data() : content.data };
  return body === undefined ? { data: undefined } : { type: "application/json", data: JSON.stringify(body) };
}

interface Refused {
  readonly call: Call;
  readonly facts: CallFacts;
  readonly answer: HttpAnswer;
}

function refusal({ budget, secrets }: ExchangeOptions, { call, facts, answer }: Refused): Error {
  const seconds = retryAfter(answer.headers["retry-after"]);
  if (seconds !== undefined && (answer.status === 429 || answer.status === 503)) {
    budget.pause(facts.service, seconds * 1000, answer.status === 503);
  }
  const requestId = requestIdOf(answer);
  return errorFromAnswer(facts, {
    status: answer.status,
    body: answer.body,
    secrets: [...secrets(), ...tokensIn(call.headers)],
    ...(requestId !== undefined && { requestId }),
    ...(seconds !== undefined && { retryAfter: seconds }),
  });
}

function requestIdOf(answer: HttpAnswer): string | undefined {
  return answer.headers["x-openstack-request-id"] ?? answer.headers["x-compute-request-id"];
}

/** Seconds, a minute at most; the header's date form is not used by OpenStack services. */
function retryAfter(header: string | undefined): number | undefined {
  if (header === undefined || !/^\d+(\.\d+)?$/.test(header)) return undefined;
  return Math.min(60, Number(header));
}

/** Without user information, which some put into an auth_url. */
function bare(url: string): string {
  const parsed = new URL(url);
  parsed.username = "";
  parsed.password = "";
  return parsed.href;
}

/** The secrets that a call itself carries. */
function tokensIn(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    /^(x-auth-token|x-subject-token|authorization)$/i.test(name) ? [value.replace(/^Bearer /, "")] : [],
  );
}
