import { createHash, X509Certificate } from "node:crypto";
import { Buffer } from "node:buffer";
import { TLSSocket, type PeerCertificate } from "node:tls";
import type { Cluster } from "../clusters/cluster.ts";
import { unauthorized } from "../server/status.ts";
import { bootstrapTokenUser } from "./bootstrap-tokens.ts";
import { verifyServiceAccountToken } from "./service-account-tokens.ts";
import { ANONYMOUS, authenticated, type User } from "./user.ts";

const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

/** Remembers, for as long as a connection lives, whom its certificate names in which cluster. */
export type CertificateUsers = WeakMap<TLSSocket, Map<string, Certified>>;

/** Whom a certificate names; "nobody" when it is not one of this cluster's, undefined when there is none. */
type Certified = User | "nobody" | undefined;

export interface Credentials {
  readonly socket: unknown;
  readonly authorization: string | undefined;
}

/**
 * Who asks: by client certificate, else by bearer token (service account or bootstrap), else anonymous.
 * Throws 401 when credentials were given and none of them is right.
 */
export async function authenticate(
  cluster: Cluster,
  { socket, authorization }: Credentials,
  known: CertificateUsers,
): Promise<User> {
  const certified = socket instanceof TLSSocket ? certificateUser(cluster, socket, known) : undefined;
  if (certified !== undefined && certified !== "nobody") return certified;
  if (!authorization) {
    if (certified === "nobody") throw unauthorized();
    return ANONYMOUS;
  }
  const token = /^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1];
  if (!token) throw unauthorized();
  const user = await tokenUser(cluster, token);
  if (!user) throw unauthorized();
  return user;
}

/** Whom a bearer token stands for. */
export async function tokenUser(cluster: Cluster, token: string): Promise<User | undefined> {
  if (token.split(".").length === 3) return (await verifyServiceAccountToken(cluster, token))?.user;
  const user = bootstrapTokenUser(cluster, token);
  return user && authenticated(user);
}

function certificateUser(cluster: Cluster, socket: TLSSocket, known: CertificateUsers): Certified {
  const users = known.get(socket) ?? new Map<string, Certified>();
  known.set(socket, users);
  if (!users.has(cluster.name)) users.set(cluster.name, namedBy(cluster, socket));
  return users.get(cluster.name);
}

function namedBy(cluster: Cluster, socket: TLSSocket): Certified {
  const peer = socket.getPeerCertificate(false);
  if (!isPresent(peer)) return undefined;
  const certificate = new X509Certificate(Buffer.from(peer.raw));
  const authority = new X509Certificate(cluster.authority.certificate);
  if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey)) return "nobody";
  const now = cluster.clock.now();
  if (now < certificate.validFromDate.getTime() || now > certificate.validToDate.getTime()) return "nobody";
  if (!certificate.keyUsage?.includes(CLIENT_AUTH)) return "nobody";
  const { CN, O } = peer.subject as unknown as { CN?: string | string[]; O?: string | string[] };
  const name = [CN ?? ""].flat()[0] ?? "";
  if (!name) return "nobody";
  const id = `X509SHA256=${createHash("sha256").update(peer.raw).digest("hex")}`;
  const extra = { "authentication.kubernetes.io/credential-id": [id] };
  return authenticated({ name, groups: [O ?? []].flat(), extra });
}

function isPresent(peer: PeerCertificate): boolean {
  return Object.keys(peer).length > 0 && peer.raw !== undefined;
}
