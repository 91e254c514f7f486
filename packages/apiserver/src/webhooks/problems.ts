import { messageOf } from "@causeway/foundation";

const SHOWN = 2048;

/** What went wrong on the way, in the words of Go's net and crypto/tls where clients know them by those. */
export function transportProblem(error: unknown): Error {
  const { code, address, port, host } = (error instanceof Error ? error : {}) as {
    code?: string;
    address?: string;
    port?: number;
    host?: string;
  };
  const where = `${address?.includes(":") === true ? `[${address}]` : (address ?? "")}:${port ?? 0}`;
  const words = {
    ECONNREFUSED: `dial tcp ${where}: connect: connection refused`,
    EHOSTUNREACH: `dial tcp ${where}: connect: no route to host`,
    ENETUNREACH: `dial tcp ${where}: connect: network is unreachable`,
    ENOTFOUND: `dial tcp: lookup ${(error as { hostname?: string }).hostname ?? host ?? ""}: no such host`,
    ECONNRESET: "EOF",
    EPIPE: "write: broken pipe",
    CERT_HAS_EXPIRED: "tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
    ERR_TLS_CERT_ALTNAME_INVALID: `tls: failed to verify certificate: x509: ${otherName(error)}`,
  }[code ?? ""];
  const unknownAuthority =
    /^(UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT.*)|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/;
  const text = unknownAuthority.test(code ?? "")
    ? "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    : (words ?? messageOf(error));
  return new Error(text, { cause: error });
}

/** For which names a certificate is, and for which it is not. */
function otherName(error: unknown): string {
  const { cert, host = "" } = error as { cert?: { subjectaltname?: string }; host?: string };
  const all = (cert?.subjectaltname ?? "").split(", ");
  const kind = /^[\d.]+$|:/.test(host) ? "IP Address:" : "DNS:";
  const names = all.filter((n) => n.startsWith(kind)).map((n) => n.slice(kind.length));
  return `certificate is valid for ${names.join(", ")}, not ${host}`;
}

const BY_CODE: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  406: "the server was unable to respond with a content type that the client supports",
  409: "the server reported a conflict",
  422: "the server rejected our request due to an error in our request",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};

/** What an HTTP status other than success says, in client-go's words; undefined for success. */
export function answerProblem(code: number, text: string): string | undefined {
  if (code >= 200 && code < 300) return undefined;
  const said = text.trim().slice(0, SHOWN) || "unknown";
  if (code === 403 || code === 415) return said;
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  return code >= 500
    ? `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`
    : `the server responded with the status code ${code} but did not return more information`;
}
