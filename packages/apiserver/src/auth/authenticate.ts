import { TLSSocket } from "node:tls";
import type { Cluster } from "../contract/cluster.ts";
import { unauthorized } from "../errors/status.ts";
import { certificateUser, type CertificateUsers } from "./client-certificates.ts";
import { ANONYMOUS, type User } from "../contract/user.ts";
import { protocolToken } from "./websocket-token.ts";

/** What a request brings to show whom it is from. */
export interface Credentials {
  readonly socket: unknown;
  readonly authorization: string | undefined;
  /** The subprotocols of a request for a WebSocket, of which one may carry a token. */
  readonly protocols?: {
    readonly value: string | undefined;
    /** A token among them was right: it is no subprotocol to accept. */
    readonly accepted: (others: string) => void;
  };
  /** Below the cluster: anonymous requests may be let in at some paths alone. */
  readonly path: string;
}

/**
 * Who asks: by client certificate, else by bearer token (also one among the subprotocols of a WebSocket), else
 * anonymous, where that is allowed. Throws 401 when credentials were given and none of them is right. Other schemes
 * than Bearer are as if nothing was said.
 */
export async function authenticate(
  cluster: Cluster,
  { socket, authorization, protocols, path }: Credentials,
  known: CertificateUsers,
): Promise<User> {
  const certified = socket instanceof TLSSocket ? certificateUser(cluster, socket, known) : undefined;
  if (certified !== undefined && certified !== "untrusted") return certified;
  const token = authorization === undefined ? undefined : /^\s*Bearer (\S+)/i.exec(authorization)?.[1];
  if (token !== undefined) {
    const found = await cluster.tokens.verify(token);
    if (!("error" in found)) return found.user;
  }
  const inProtocol = protocols && protocolToken(protocols.value);
  if (protocols && inProtocol !== undefined && inProtocol !== "invalid") {
    const found = await cluster.tokens.verify(inProtocol.token);
    if (!("error" in found)) {
      protocols.accepted(inProtocol.others);
      return found.user;
    }
  }
  if (token !== undefined || inProtocol !== undefined) throw unauthorized();
  if (certified === "untrusted" || !cluster.tokens.admitsAnonymous(path)) throw unauthorized();
  return ANONYMOUS;
}
