import type { Digest } from "../flow/classify.ts";
import type { BytesInFlight } from "../flow/in-flight.ts";
import { type FlowControl, type Placed, type Ticket } from "../flow/flow-control.ts";
import type { Turns } from "../flow/turns.ts";
import { workOf, type ObjectCounts } from "../flow/work.ts";
import type { Response } from "../contract/exchange.ts";
import { sendText } from "./respond.ts";
import { TOO_MANY } from "../errors/status.ts";
import type { Status } from "@causeway/kubernetes";

/** What shares out a logical cluster's part of the server. */
export interface Fairness {
  readonly flow: FlowControl;
  readonly counts: ObjectCounts;
  /** Shared by all clusters of the server. */
  readonly turns: Turns;
  readonly bytes: BytesInFlight;
}

const LONG = new Set(["attach", "exec", "portforward", "proxy"]);
/** How long an answer that its client does not read keeps its seats. */
const SLOWEST_ANSWER = 60_000;

/**
 * Gives a request its place: undefined ticket for what runs on for long by nature. When `ready` is undefined it may
 * continue at once. Throws 429.
 */
export function place(
  fairness: Fairness,
  { cluster, query, ...digest }: Digest & { cluster: string; query: URLSearchParams },
  response: Response,
): { ticket: Ticket | undefined; ready: Promise<void> | undefined } {
  if (LONG.has(digest.info.subresource)) return { ticket: undefined, ready: undefined };
  const work = workOf(digest.info, query, fairness.counts);
  const placed = fairness.flow.place(digest, work, (cancel) => response.once("close", cancel));
  setFlowHeaders(placed.ticket, response);
  try {
    const ready = turnOf(fairness.turns, placed, { cluster, width: work.objects, user: digest.user.name });
    return { ticket: placed.ticket, ready };
  } catch (error) {
    placed.ticket.release();
    throw error;
  }
}

/** The uids, not the names, which not every user may know. */
function setFlowHeaders({ level, schema }: Ticket, response: Response): void {
  response.setHeader("x-kubernetes-pf-flowschema-uid", schema.uid);
  response.setHeader("x-kubernetes-pf-prioritylevel-uid", level.config.uid);
}

function turnOf(
  turns: Turns,
  { seated }: Placed,
  { cluster, width, user }: { cluster: string; width: number; user: string },
): Promise<void> | undefined {
  return seated ? seated.then(() => turns.take(cluster, width, user)) : turns.take(cluster, width, user);
}

/**
 * Gives the seats back when the client has read the answer, or after a minute: a client that does not read keeps them
 * no longer.
 */
export function releaseWhenSent(ticket: Ticket, response: Response): void {
  if (response.writableEnded && response.writableLength === 0) return ticket.release();
  if (!response.writableEnded && !response.isStreamed) return ticket.release();
  const timer = setTimeout(() => ticket.release(), SLOWEST_ANSWER);
  timer.unref();
  response.once("close", () => {
    clearTimeout(timer);
    ticket.release();
  });
}

/** Whether an error says that too many requests are in progress; other errors with status 429 are passed on. */
export function isTooMany({ code, message }: Status & { code: number }): boolean {
  return code === 429 && message === TOO_MANY;
}

/** 429 in plain text, as kube-apiserver's filter answers. */
export function sendTooMany(response: Response): void {
  response.setHeader("retry-after", "1");
  response.setHeader("x-content-type-options", "nosniff");
  sendText(response, 429, { type: "text/plain; charset=utf-8", body: `${TOO_MANY}\n` });
}
