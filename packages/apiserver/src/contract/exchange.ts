import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

/** A request over HTTP/1.1 or HTTP/2. */
export type Request = IncomingMessage | Http2ServerRequest;

/**
 * `bytesSent` is the length of the body, for metrics; `charge` does work on the account of the request's cluster, once
 * that is known.
 */
export type Response = (ServerResponse | Http2ServerResponse) & {
  bytesSent?: number;
  /** What a body in YAML was written from. */
  yamlOf?: unknown;
  /** It is written bit by bit, at the pace of the client. */
  isStreamed?: boolean;
  /**
   * Counts what waits for the client to read it; undefined when there is no room for that. The result gives it back.
   */
  inFlight?: (bytes: number) => (() => void) | undefined;
  charge?: <T>(work: () => T) => T;
};
