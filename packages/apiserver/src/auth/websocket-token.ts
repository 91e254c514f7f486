/** The subprotocol that carries a bearer token, for clients that can set no other header: browsers. */
const PREFIX = "base64url.bearer.authorization.k8s.io.";

/** What a request's subprotocols were found to contain. */
export interface ProtocolToken {
  readonly token: string;
  /** The other subprotocols. */
  readonly others: string;
}

/**
 * The bearer token among the subprotocols of a WebSocket request; undefined when there is none, "invalid" when it
 * cannot be read.
 */
export function protocolToken(header: string | undefined): ProtocolToken | "invalid" | undefined {
  const protocols = (header ?? "").split(",").map((protocol) => protocol.trim());
  const tokens = protocols.filter((protocol) => protocol.startsWith(PREFIX));
  const [encoded] = tokens;
  if (encoded === undefined) return undefined;
  const token = tokens.length === 1 ? decoded(encoded.slice(PREFIX.length)) : undefined;
  if (token === undefined) return "invalid";
  if (token === "") return undefined;
  const others = protocols.filter((protocol) => !protocol.startsWith(PREFIX));
  // One that is not secret must be there, for the server to accept.
  return others.length === 0 ? "invalid" : { token, others: others.join(",") };
}

/** Base64 without padding, of UTF-8. */
function decoded(text: string): string | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, "base64url"));
  } catch {
    return undefined;
  }
}
